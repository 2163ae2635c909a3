import type postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { snakeCase } from '../../src/datasets/names.ts';
import { planAll } from '../../src/recording/plan.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { rowsOf } from '../support/rows.ts';
import { NODES, withRecordings } from './recordings.ts';
import { Table, TO_ANOTHER_DAY } from './support.ts';
import { onDemand, truthByDataset } from './truth.ts';

/** Pages of 7 are recorded by recording.test.ts. */
const PAGES = ['of 1', 'of the most'] as const;
const world = withRecordings(PAGES);
const { recordingOf } = world;

describe('both recordings', () => {
  /** Returns the rows of a dataset with these targets, without their times and runs. */
  async function rowsAbout(
    sql: postgres.Sql,
    dataset: (typeof recorded)[number],
    requests: ReadonlySet<string>,
  ) {
    const columns = dataset.columns.map(({ name }) => `"${name}"::text`);
    const rows = await sql.unsafe<Record<string, string | null>[]>(
      `select ${columns.join(', ')}, extra::text from ${rowsOf(dataset.name)} r`,
    );
    const request = dataset.request.map(snakeCase);
    return rows
      .filter((row) => requests.has(JSON.stringify(request.map((name) => row[name]))))
      .map((row) => JSON.stringify(row))
      .sort();
  }

  it.each(recorded.filter(({ name }) => !(name in onDemand)).map((dataset) => [dataset.name, dataset]))(
    'have the same rows of %s',
    async (name, dataset) => {
      const [fewer, more] = PAGES.map((pages) => recordingOf(pages).recorder);
      if (!fewer || !more) throw new Error('a recording is missing');
      const { targets } = fewer.watchedOf(name);
      const requests = new Set(
        targets.map((target) => JSON.stringify(dataset.request.map((key) => target[key]))),
      );
      const rows = await rowsAbout(fewer.sql, dataset, requests);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(await rowsAbout(more.sql, dataset, requests));
    },
  );
});

it('on another day arrived outputs are missing from x_utxos, and others are in transit', async () => {
  const { recorder } = recordingOf('of the most');
  const ways = () => recorder.sql<{ chain: string; count: number }[]>`
      select source_chain as chain, count(*)::int as count from reporting.x_utxos
      where source_chain is not null group by 1`;
  expect([...(await ways())]).toEqual([{ chain: 'P', count: NODES.length * 2 }]);
  world.clock.advance(TO_ANOTHER_DAY);
  const feed = recorder.feedOf('x_utxos');
  const jobs = await recorder.planJobs(feed, (_, states, now) => planAll(feed, feed.targets, states, now));
  const runs = await recorder.run(feed, jobs);
  expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
  expect([...(await ways())]).toEqual([{ chain: 'C', count: NODES.length }]);
  const { addresses } = world.sandbox.watch;
  const truth = truthByDataset.x_utxos;
  const rows = await truth?.rows({
    sandbox: world.sandbox,
    sec: world.clock.now() / 1000,
    nodes: NODES,
    addresses,
  });
  const table = await Table.open(recorder.sql, 'x_utxos', truth?.columns.split(/\s+/) ?? []);
  expect(await table.storedLines('valid_to is null')).toEqual(table.expectedLines(rows ?? []));
  const ended =
    await recorder.sql`select 1 from reporting.x_utxos_history where source_chain = 'P' and valid_to is not null`;
  expect(ended).toHaveLength(NODES.length * 2);
});
