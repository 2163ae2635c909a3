import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activeFeeds, catalogNames } from '../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../src/app/upstream-opener.ts';
import { validateConfig } from '../src/config/load.ts';
import { findFreePort } from '../src/db/embedded/free-port.ts';
import { loadStates, planAll } from '../src/recording/plan.ts';
import { runJobs } from '../src/recording/record-in-foreground.ts';
import { registerTargets } from '../src/recording/register.ts';
import { commitsFor } from './support/commits.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { datasetDigests, questionDigests } from './support/saved-queries.ts';
import { type UpstreamServer, upstreamServer } from './support/upstream-server.ts';

const folder = fileURLToPath(new URL('../../shared/real-data/', import.meta.url));
const present = existsSync(`${folder}replay.mjs`);
if (!present)
  console.warn('skipped: the recorded answers of the real services (../shared/real-data) are not here');

interface SnapshotPoint {
  chain: string;
  day: string;
  snapshot: string;
  value: string;
}

/** Chain, day and value of each point, by snapshot date. */
function readSnapshotPoints(): SnapshotPoint[] {
  const lines = readFileSync(`${folder}metrics/txCount-seen-over-snapshots.csv`, 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return lines.map((line) => {
    const cells = line.split(',');
    return {
      chain: cells[0] ?? '',
      day: cells.at(-4) ?? '',
      snapshot: cells.at(-3) ?? '',
      value: (cells.at(-1) ?? '').trim(),
    };
  });
}

/** Response of a mainnet node, in place of the documented one of a local network. */
const ofMainnet: Readonly<Record<string, object>> = {
  'info.getNetworkID': { networkID: '1' },
  'info.getNetworkName': { networkName: 'mainnet' },
};

/** A node of mainnet with the responses of the replay for everything else. */
const mainnetNode = (replay: string): Promise<UpstreamServer> =>
  upstreamServer(async ({ method, url, headers, body }, response) => {
    const called: { id?: unknown; method?: string } = body === '' ? {} : JSON.parse(body);
    const result = ofMainnet[called.method ?? ''];
    if (result) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', result, id: called.id }));
    }
    const type = headers['content-type'];
    const answer = await request(`${replay}${url.pathname}${url.search}`, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: type ? { 'content-type': type } : {},
      body: method === 'POST' ? body : null,
    });
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' });
    return response.end(await answer.body.text());
  });

describe.skipIf(!present)('32 days of recorded responses', () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let replay: ChildProcess;
  let url: string;
  let node: UpstreamServer;
  const days = present
    ? readdirSync(`${folder}validators`)
        .map((file) => file.slice('validators-'.length, -'.json'.length))
        .sort()
    : [];
  const snapshotPoints = present ? readSnapshotPoints() : [];
  const snapshots = [...new Set(snapshotPoints.map(({ snapshot }) => snapshot))].sort();
  const chains = [...new Set(snapshotPoints.map(({ chain }) => chain))];
  /** The snapshot of metrics that the replay serves on day number `at` of the validators. */
  const snapshotOn = (at: number) => snapshots[Math.min(Math.floor(at / 5), snapshots.length - 1)] ?? '';
  let now = 0;

  beforeAll(async () => {
    database = await testDatabase();
    sql = postgres(database.url, { max: 4, onnotice: () => {} });
    const port = await findFreePort();
    replay = spawn(process.execPath, [`${folder}replay.mjs`, '--port', String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { stdout } = replay;
    await new Promise((resolve) => stdout && createInterface({ input: stdout }).once('line', resolve));
    url = `http://127.0.0.1:${port}`;
    node = await mainnetNode(url);
  });

  afterAll(async () => {
    await node?.close();
    replay?.kill();
    await sql?.end();
    await database?.close();
  });

  async function recordEverything() {
    const config = validateConfig(
      {
        network: 'mainnet',
        upstreams: { metrics: { url }, nodes: [{ name: 'validator-1', url: node.url }] },
        watch: { chains: [...chains, '43114'] },
        datasets: {
          metric_points: { metrics: ['txCount'], intervals: ['day'] },
          // The replay answers one documented block, whatever the height.
          p_blocks: { enabled: false },
          x_blocks: { enabled: false },
          x_transactions: { enabled: false },
          // Watched, not recorded by runs.
          node_health: { enabled: false },
        },
      },
      catalogNames,
      'the test',
    );
    const clock = () => now;
    const open = createUpstreamOpener(config, { chainDataKey: undefined, metricsKey: undefined }, sql, clock);
    const runs = [];
    for (const feed of activeFeeds(config)) {
      await registerTargets(sql, feed, now);
      const jobs = planAll(feed, feed.targets, await loadStates(sql, feed), now);
      const done = await runJobs(
        { sql, commits: commitsFor(sql), clock, worker: 'test', open },
        feed,
        jobs,
        new AbortController().signal,
      );
      runs.push(...done.runs);
    }
    return runs;
  }

  /** Rows of the tables whose content must not change when the upstream responds the same again. */
  async function fingerprint() {
    const [row] = await sql`
      select (select count(*) from recorder.validators) as validators,
        (select count(*) from recorder.metric_points) as points,
        (select count(*) from recorder.average_tps) as tps,
        (select count(*) from recorder.node_identity) as identity,
        (select md5(string_agg(v::text, '|' order by v.node_id, v.start_time, v.valid_from)) from recorder.validators v) as all_validators,
        (select md5(string_agg(m::text, '|' order by m.series_id, m.bucket_start, m.valid_from)) from recorder.metric_points m) as all_points`;
    return row;
  }

  test('return as of every day the values of that day, and no others in revisions and history', async () => {
    const at = (day: string) => Date.parse(`${day}T12:00:00Z`);
    /** Returns all results as of a day. */
    const resultsAsOf = async (day: string) => {
      const moment = new Date(at(day) + 1000);
      const from = new Date(at(days[0] ?? '') - 86_400_000);
      const parameterValues = { chain_id: '43114', metric: 'txCount' };
      return {
        ...(await questionDigests(sql, moment, from, parameterValues)),
        ...(await datasetDigests(sql, moment)),
      };
    };
    const recordedResults = new Map<string, Record<string, string>>();
    let written = 0;
    for (const day of days) {
      await (await request(`${url}/replay?date=${day}`, { method: 'POST' })).body.dump();
      now = at(day);
      const runs = await recordEverything();
      expect(runs.filter(({ status }) => status === 'failed')).toEqual([]);
      written += runs.reduce((sum, run) => sum + run.rowsWritten.reduce((total, rows) => total + rows, 0), 0);
      recordedResults.set(day, await resultsAsOf(day));
      if (day === days[0] || day === days.at(-1)) {
        const before = await fingerprint();
        now += 60_000;
        await recordEverything();
        expect(await fingerprint()).toEqual(before);
      }
    }

    for (const [index, day] of days.entries()) {
      const rows = await sql`
        select node_id, weight::text, extract(epoch from start_time)::bigint::text as start, delegator_weight::text,
          extract(epoch from end_time)::bigint::text as "end", validation_reward_owner_addresses as addresses
        from reporting.node_validators_as_of(${new Date(at(day) + 1000)}) order by node_id`;
      const file: {
        id: string;
        weight: number;
        startTime: string;
        endTime: string;
        delegatorWeight: number;
        rewardAddresses: string[];
      }[] = JSON.parse(readFileSync(`${folder}validators/validators-${day}.json`, 'utf8'));
      const expected = file.map((one) => ({
        node_id: one.id,
        weight: String(one.weight),
        start: one.startTime,
        delegator_weight: String(one.delegatorWeight),
        end: one.endTime,
        addresses: one.rewardAddresses,
      }));
      expected.sort((a, b) => (a.node_id < b.node_id ? -1 : 1));
      expect([...rows].sort((a, b) => (a.node_id < b.node_id ? -1 : 1))).toEqual(expected);

      const points = await sql`
        select chain_id || ' ' || to_char(bucket_start at time zone 'UTC', 'YYYY-MM-DD') || ' ' || value::text as point
        from reporting.metric_points_as_of(${new Date(at(day) + 1000)}) order by 1`;
      const published = snapshotPoints
        .filter(({ snapshot }) => snapshot === snapshotOn(index))
        .map((p) => `${p.chain} ${p.day} ${p.value}`);
      const recorded = points.map(({ point }) => String(point));
      expect({
        day,
        lacking: published.filter((p) => !recorded.includes(p)),
        beyond: recorded.filter((p) => !published.includes(p)),
      }).toEqual({ day, lacking: [], beyond: [] });
    }

    // The same as on the day itself, a month of revisions and changes later.
    expect(recordedResults.size).toBe(days.length);
    for (const [day, then] of recordedResults) {
      expect(Object.values(then).filter((one) => /^[1-9]\d* /.test(one)).length).toBeGreaterThan(8);
      expect({ day, results: await resultsAsOf(day) }).toEqual({ day, results: then });
    }

    const revisions = await sql`
      select chain_id || ' ' || to_char(bucket_start at time zone 'UTC', 'YYYY-MM-DD') as point,
        array_agg(value::text order by valid_from) as values
      from reporting.metric_points_history group by 1`;
    const collapsed = new Map<string, string[]>();
    for (const snapshot of snapshots)
      for (const { chain, day, value } of snapshotPoints.filter((one) => one.snapshot === snapshot)) {
        const values = collapsed.get(`${chain} ${day}`) ?? [];
        if (values.at(-1) !== value) values.push(value);
        collapsed.set(`${chain} ${day}`, values);
      }
    expect(new Map(revisions.map(({ point, values }) => [point, values]))).toEqual(collapsed);

    const [repeated] = await sql`
      select count(*)::int as versions from (
        select row(v.weight, v.end_time, v.delegator_weight, v.validation_reward_owner_addresses, v.valid_from)
            is not distinct from row(p.weight, p.end_time, p.delegator_weight, p.validation_reward_owner_addresses, p.valid_to) as same
        from reporting.node_validators_history v join reporting.node_validators_history p
          on p.node_id = v.node_id and p.start_time = v.start_time and p.valid_to = v.valid_from) pairs where same`;
    expect(repeated?.versions).toBe(0);
    const [sizes] = await sql`
      select (select count(*)::int from reporting.node_validators_history) as versions,
        (select count(distinct (node_id, start_time))::int from reporting.node_validators_history) as validations,
        (select count(*)::int from reporting.metric_points_history) as revisions`;
    console.info('real data:', { days: days.length, points: collapsed.size, written, ...sizes });
  }, 600_000);
});
