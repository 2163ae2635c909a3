import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import { INTERVALS } from '../../sandbox/metrics/calendar.ts';
import { METRICS } from '../../sandbox/metrics/names.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { OPEN_END } from '../../src/datasets/contract.ts';
import type { RunResult } from '../../src/recording/context.ts';
import { jointState, loadStates, missingWindows, planAll } from '../../src/recording/plan.ts';
import { recorded, recordedNamed } from '../../src/reporting/recorded-datasets.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { rowsOf } from '../support/rows.ts';
import type { LoggedResponse } from './extraction.ts';
import { extractions } from './extractions.ts';
import { configFor, INSTANT, lastCall, Recorder, responsesSince, smallNetwork, Table } from './support.ts';
import { onDemand, truthByDataset } from './truth.ts';

const DAY = 86_400_000;
const SEC = INSTANT / 1000;
/** Blocks are recorded from this height on, so that pages of one block are few. */
const SINCE = new Date(INSTANT - 12 * DAY).toISOString().slice(0, 10);
export const NODES = ['validator-1', 'observer-1'];
const ALPHA = '888001';
const C_CHAIN = '43114';

/** The page sizes of one recording, and its targets. */
interface Size {
  readonly pages: 'of 1' | 'of 7' | 'of the most';
  readonly pageSize?: number;
  readonly chains: readonly string[];
  readonly intervals?: readonly string[];
  /** Numbers of the sandbox's accounts by EVM chain; the first is the busiest. */
  readonly accounts: Readonly<Record<string, readonly number[]>>;
}

/** Pages of one item need a call per item: these recordings have fewer and quieter targets. */
const SIZES: readonly Size[] = [
  {
    pages: 'of 1',
    pageSize: 1,
    chains: [ALPHA],
    intervals: ['day', 'week', 'month'],
    accounts: { [C_CHAIN]: [2], [ALPHA]: [1, 2] },
  },
  { pages: 'of 7', pageSize: 7, chains: [ALPHA], accounts: { [C_CHAIN]: [1, 2], [ALPHA]: [1, 2] } },
  {
    pages: 'of the most',
    chains: [C_CHAIN, '43113', ALPHA, '888003', 'total'],
    accounts: { [C_CHAIN]: [0, 1, 2], [ALPHA]: [0, 1, 2] },
  },
];

/** A recorder with its runs and the responses of the sandbox to it. */
interface Recording {
  readonly recorder: Recorder;
  readonly runs: readonly RunResult[];
  readonly responses: readonly LoggedResponse[];
}

/**
 * Declares the tests of a recording with pages of each of these sizes, and of everything that it stores.
 * @returns what these tests recorded, for the following tests
 */
export function withRecordings(pages: readonly Size['pages'][]) {
  const sizes = SIZES.filter((size) => pages.includes(size.pages));
  let sandbox: Sandbox;
  let clock: ManualClock;
  const databases: TestDatabase[] = [];
  const connections: postgres.Sql[] = [];

  const recordings = new Map<string, Recording>();

  beforeAll(async () => {
    ({ sandbox, clock } = await smallNetwork());
  });
  afterAll(async () => {
    for (const sql of connections) await sql.end();
    for (const database of databases) await database.close();
    await sandbox.close();
  });

  async function recorderOf(size: Size): Promise<Recorder> {
    const database = await testDatabase();
    databases.push(database);
    const sql = postgres(database.url, { max: 6, onnotice: () => {} });
    connections.push(sql);
    const { network } = sandbox;
    const { nodes: _, ...watch } = sandbox.watch;
    const evmAddresses = Object.entries(size.accounts).flatMap(([chain, numbers]) =>
      numbers.map((number) => ({ chain, address: sandbox.evm.get(chain)?.address(number) })),
    );
    const config = configFor(
      sandbox,
      NODES.map((name) => ({ name, path: `/nodes/${name}`, tags: [network.subnets[1]?.subnetId ?? ''] })),
      {
        watch: {
          ...watch,
          chains: size.chains,
          nodeIds: [watch.nodeIds[0], watch.nodeIds[3]],
          evmAddresses,
        },
        datasets: Object.fromEntries(
          catalogNames.datasets.map((name) => [
            name,
            {
              ...(recordedNamed(name)?.source.paged ? { pageSize: size.pageSize } : {}),
              ...(name === 'metric_points' ? { intervals: size.intervals } : {}),
              ...(name === 'proposed_blocks' ? { since: SINCE } : {}),
            },
          ]),
        ),
      },
    );
    return new Recorder(sql, config, clock);
  }

  const recordEverything = (recorder: Recorder) =>
    recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));

  function recordingOf(pages: string): Recording {
    const found = recordings.get(pages);
    if (!found) throw new Error(`nothing was recorded with pages ${pages}`);
    return found;
  }

  /** Returns the content of every table that a run may change, except the runs themselves. */
  async function fingerprint(sql: postgres.Sql): Promise<Record<string, string>> {
    const tables = [...catalogNames.datasets, 'coverage', 'gaps', 'quarantine'];
    const content = await Promise.all(
      tables.map(async (name) => {
        // Every probe of a node counts, also a second one at the same instant.
        const row = name === 'node_health' ? `to_jsonb(t) - 'probes'` : 'to_jsonb(t)';
        const [found] = await sql.unsafe<{ rows: string; content: string }[]>(
          `select count(*)::text as rows, coalesce(md5(string_agg((${row})::text, '|' order by (${row})::text)), '') as content
         from ${rowsOf(name)} t`,
        );
        return [name, `${found?.rows} ${found?.content}`];
      }),
    );
    return Object.fromEntries(content);
  }

  it('covers every dataset', () => {
    const expected = [extractions, truthByDataset, onDemand].flatMap((part) => Object.keys(part));
    expect(expected.sort()).toEqual([...catalogNames.datasets].sort());
  });

  describe.each(sizes)('a recording with pages $pages', (size) => {
    const recording = () => recordingOf(size.pages);

    // All datasets with pages of one item: some 2,000 requests.
    it('records everything, and quarantines nothing', { timeout: 120_000 }, async () => {
      const recorder = await recorderOf(size);
      const before = lastCall(sandbox);
      const runs = await recordEverything(recorder);
      recordings.set(size.pages, { recorder, runs, responses: responsesSince(sandbox, before) });
      // A node that does not validate has no uptime.
      const refused = runs.filter(
        ({ feed, target }) => feed === 'node-reported-uptime' && /observer/.test(target),
      );
      expect(refused.map(({ status }) => status)).toEqual(['unsupported']);
      expect(runs.filter((run) => run.status !== 'done' && !refused.includes(run))).toEqual([]);
      expect(runs.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(0);
      expect(await recorder.sql`select * from reporting.gaps`).toHaveLength(0);
      // Only what every poll requests again is left.
      for (const feed of recorder.feeds.filter(({ source }) => source.range)) {
        const states = await loadStates(recorder.sql, feed);
        for (const target of feed.targets) {
          const missing = missingWindows(feed, target, jointState(feed, states, target), INSTANT);
          const to = feed.source.range?.axis === 'time' ? INSTANT : OPEN_END;
          expect(missing.map((window) => window.to)).toEqual([to]);
        }
      }
    });

    it.each(Object.keys(extractions))(
      'stores in %s the rows of the responses, and nothing else',
      async (dataset) => {
        const { recorder, responses } = recording();
        const extraction = extractions[dataset];
        const rows = extraction?.rows(
          responses.filter(({ operation }) => extraction.operations.includes(operation)),
        );
        const table = await Table.open(recorder.sql, dataset, extraction?.columns ?? []);
        const expected = table.expectedLines(rows ?? []);
        expect(expected.length).toBeGreaterThan(0);
        expect(await table.storedLines()).toEqual(expected);
      },
    );

    it.each(Object.entries(truthByDataset))(
      'stores in %s the rows of the model, and nothing else',
      async (dataset, { columns, rows }) => {
        const { addresses } = sandbox.watch;
        const table = await Table.open(recording().recorder.sql, dataset, columns.split(/\s+/));
        const expected = table.expectedLines(await rows({ sandbox, sec: SEC, nodes: NODES, addresses }));
        expect(expected.length).toBeGreaterThan(0);
        expect(await table.storedLines()).toEqual(expected);
      },
    );

    it('holds each natural key once, with one version', async () => {
      const { sql } = recording().recorder;
      for (const { name, key, history } of recorded) {
        const open = { state: 'valid_to is null', series: 'valid_to is null and not vanished' };
        const current = history === 'state' || history === 'series' ? open[history] : 'true';
        const [counts] = await sql.unsafe<{ rows: number; current: number; keys: number }[]>(
          `select count(*)::int as rows, (count(*) filter (where ${current}))::int as current,
           count(distinct (${key.join(', ')}))::int as keys from ${rowsOf(name)} r`,
        );
        expect({ name, ...counts }).toEqual({
          name,
          rows: counts?.keys,
          current: counts?.keys,
          keys: counts?.keys,
        });
      }
    });

    it('has a column for every received field', async () => {
      const { sql } = recording().recorder;
      for (const { name } of recorded)
        expect({
          name,
          extra: [...(await sql.unsafe(`select extra from ${rowsOf(name)} r where extra is not null`))],
        }).toEqual({ name, extra: [] });
    });

    it('misses no existing object', async () => {
      const { recorder } = recording();
      const { sql, config } = recorder;
      const from = Date.parse(`${SINCE}T00:00:00Z`) / 1000;
      const blocks = await sql<{ chain: string; node: string; hashes: string[] }[]>`
      select blockchain_id as chain, proposer_node_id as node,
        array_agg(block_hash order by block_timestamp, block_number) filter (where block_timestamp >= ${`${SINCE}T00:00:00Z`}) as hashes
      from reporting.proposed_blocks group by 1, 2`;
      expect(blocks).toHaveLength(config.watch.nodeIds.length * 3);
      for (const { chain, node, hashes } of blocks)
        expect([...hashes].sort()).toEqual(
          [...sandbox.network.proposedBlockHashes(node, chain, from, SEC)].sort(),
        );

      for (const [service, chain] of [
        ['avm', 'x'],
        ['platform', 'p'],
      ] as const) {
        const primary = sandbox.network.chain(`${chain}-chain`);
        const head = primary ? sandbox.network.blocks(primary).heightAt(SEC) : -1;
        const heights = await sql<{ node: string; first: number; last: number; count: number }[]>`
        select node, min(height)::int as first, max(height)::int as last, count(*)::int as count
        from reporting.${sql(`node_${chain}_blocks`)} group by 1 order by 1 desc`;
        expect({ service, heights: [...heights] }).toEqual({
          service,
          heights: NODES.map((node) => ({ node, first: head - 100, last: head, count: 101 })),
        });
      }

      for (const { chain, address } of config.watch.evmAddresses) {
        const network = sandbox.evm.get(chain);
        const account = network?.account(address) ?? -1;
        const count = network?.countUntil(account, SEC) ?? 0;
        const rows = await sql<{ hash: string }[]>`
        select tx_hash as hash from reporting.native_transactions where chain_id = ${chain} and address = ${address}`;
        expect(new Set(rows.map(({ hash }) => hash))).toEqual(
          new Set(Array.from({ length: count }, (_, number) => network?.hash({ account, number }))),
        );
      }

      const points = await sql<{ key: string; value: string }[]>`
      select concat_ws(' ', chain_id, metric, time_interval, extract(epoch from bucket_start)::int) as key,
        value::text from reporting.metric_points`;
      const expected = recorder.feedOf('metric_points').targets.flatMap((target) => {
        const metric = METRICS.find((name) => name === target.metric);
        const interval = INTERVALS.find((name) => name === target.timeInterval);
        if (!metric || !interval) throw new Error(`nothing is known of ${target.metric}`);
        const all = { from: 0, to: SEC, limit: Number.POSITIVE_INFINITY };
        return sandbox.metrics
          .points(target.chainId ?? '', metric, interval, all, SEC)
          .map(([start, value]) => `${target.chainId} ${metric} ${interval} ${start}: ${value}`);
      });
      expect(points.map(({ key, value }) => `${key}: ${value}`).sort()).toEqual(expected.sort());
    });

    it('writes only runs when it records again at the same instant', async () => {
      const { recorder } = recording();
      // An index is claimed as far as any target showed it; earlier targets claim that at their next poll.
      const { coverage: _, ...stored } = await fingerprint(recorder.sql);
      await recordEverything(recorder);
      const before = await fingerprint(recorder.sql);
      expect(before).toMatchObject(stored);
      const runs = await recordEverything(recorder);
      expect(runs.flatMap(({ rowsWritten }) => rowsWritten).filter((rows) => rows > 0)).toEqual([]);
      expect(await fingerprint(recorder.sql)).toEqual(before);
    });
  });

  return {
    recordingOf,
    get sandbox() {
      return sandbox;
    },
    get clock() {
      return clock;
    },
  };
}
