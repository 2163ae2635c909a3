import type postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { snakeCase } from '../../src/datasets/names.ts';
import { planAll } from '../../src/recording/plan.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { rowsOf } from '../support/rows.ts';
import { NODES, withRecordings } from './recordings.ts';
import { Table, TO_ANOTHER_DAY } from './support.ts';
import { truths } from './truth.ts';

const PAGES = ['of 1', 'of 7', 'of the most'] as const;
const world = withRecordings(PAGES);
const { recordingOf } = world;

describe('all three', () => {
  /** The rows of a dataset that are about targets, without when and by which run they were written. */
  async function rowsAbout(
    sql: postgres.Sql,
    dataset: (typeof recorded)[number],
    asked: ReadonlySet<string>,
  ) {
    const columns = dataset.columns.map(({ name }) => `"${name}"::text`);
    const rows = await sql.unsafe<Record<string, string | null>[]>(
      `select ${columns.join(', ')}, extra::text from ${rowsOf(dataset.name)} r`,
    );
    const request = dataset.request.map(snakeCase);
    return rows
      .filter((row) => asked.has(JSON.stringify(request.map((name) => row[name]))))
      .map((row) => JSON.stringify(row))
      .sort();
  }

  it.each(
    recorded.filter(({ name }) => name !== 'aggregated_signatures').map((dataset) => [dataset.name, dataset]),
  )('have the same rows of %s', async (name, dataset) => {
    const [one, seven, most] = PAGES.map((pages) => recordingOf(pages).recorder);
    if (!one || !seven || !most) throw new Error('a recording is missing');
    for (const [fewer, more] of [
      [one, seven],
      [seven, most],
    ] as const) {
      const { targets } = fewer.watchedOf(name);
      const asked = new Set(
        targets.map((target) => JSON.stringify(dataset.request.map((key) => target[key]))),
      );
      const rows = await rowsAbout(fewer.sql, dataset, asked);
      const others = await rowsAbout(more.sql, dataset, asked);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(others);
    }
  });
});

it('on another day outputs that arrived are gone from x_utxos, and others are on their way', async () => {
  const { recorder } = recordingOf('of the most');
  const ways = () => recorder.sql<{ chain: string; count: number }[]>`
      select source_chain as chain, count(*)::int as count from reporting.x_utxos
      where source_chain is not null group by 1`;
  expect([...(await ways())]).toEqual([{ chain: 'P', count: NODES.length * 2 }]);
  world.clock.advance(TO_ANOTHER_DAY);
  const feed = recorder.feedOf('x_utxos');
  const jobs = await recorder.planned(feed, (_, states, now) => planAll(feed, feed.targets, states, now));
  const runs = await recorder.run(feed, jobs);
  expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
  expect([...(await ways())]).toEqual([{ chain: 'C', count: NODES.length }]);
  const { addresses } = world.sandbox.watch;
  const later = await truths({
    sandbox: world.sandbox,
    sec: world.clock.now() / 1000,
    nodes: NODES,
    addresses,
  });
  const { columns = [], rows = [] } = later.x_utxos ?? {};
  const table = await Table.open(recorder.sql, 'x_utxos', columns);
  expect(await table.stored('valid_to is null')).toEqual(table.expected(rows));
  const gone =
    await recorder.sql`select 1 from reporting.x_utxos_history where source_chain = 'P' and valid_to is not null`;
  expect(gone).toHaveLength(NODES.length * 2);
});
