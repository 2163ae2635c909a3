import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';
import { packRuns } from '../../src/recording/pack-runs.ts';
import { RUNS_PER_BLOCK } from '../../src/recording/packed-form.ts';
import { getCatalogue } from '../../src/reporting/relations/catalogue.ts';
import { rowsParameters } from '../../src/reporting/relations/row-query.ts';
import { readRows } from '../../src/reporting/relations/rows.ts';
import { runPage, runRows } from '../../src/reporting/reports/runs.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database, sql } = withDatabase({ max: 3 });
let other: postgres.Sql;
beforeAll(async () => {
  other = connectPool(database.url, 60_000, { ...CONNECTION_OPTIONS, max: 3 });
});
afterAll(async () => {
  await other.end({ timeout: 1 });
});

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21, 12);
const week = 7 * day;
const signal = new AbortController().signal;

/** Usual counts, and all that a bigint holds. */
const counts = fc.oneof(
  { weight: 60, arbitrary: fc.bigInt({ min: 0n, max: 3000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: -5n, max: 2n ** 63n - 1n }) },
);
/** What a window's end may be, up to the open end of heights. */
const bounds = fc.oneof(
  { weight: 20, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }) },
  { weight: 1, arbitrary: fc.constant(-5n) },
);
/** Mostly the first of some values. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...others) },
  );
const small = fc.oneof(
  { weight: 60, arbitrary: fc.nat(2000) },
  { weight: 1, arbitrary: fc.integer({ min: -5, max: 2 ** 31 - 1 }) },
);
const words = fc.constantFrom('host/1', 'häuschen "2"/4', "it's {a,b}\\ null", '');
const datasets = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(['one'], ['one', 'two'], ['a "b', 'c,d', '{}', ' NULL']) },
  { weight: 1, arbitrary: fc.constant(['1', '2', '3', '4', '5']) },
);

const madeRun = fc
  .record({
    datasets,
    target: words,
    reason: fc.constantFrom('poll', 'poll', 'heal'),
    worker: words,
    status: mostly('done', 'partial', 'failed', 'running'),
    note: mostly(null, '', 'said'),
    error: mostly(null, 'failed'),
    axis: fc.constantFrom(null, 'time', 'height'),
    from: fc.option(bounds),
    to: fc.option(bounds),
    /** Microseconds before now. */
    began: fc.oneof(
      {
        weight: 20,
        arbitrary: fc.integer({ min: 0, max: 200 * 86_400 }).map((seconds) => BigInt(seconds) * 1_000_000n),
      },
      { weight: 20, arbitrary: fc.bigInt({ min: 0n, max: 200n * 86_400_000_000n }) },
      { weight: 1, arbitrary: fc.constant(60n * 365n * 86_400_000_000n) },
    ),
    took: fc.oneof(
      fc.nat(3000).map((ms) => BigInt(ms) * 1000n),
      fc.bigInt({ min: -5n, max: 10n ** 9n }),
    ),
    pages: small,
    requests: small,
    units: counts,
    quarantined: mostly(0, 2),
    skipped: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 1, max: 40 }) },
      { weight: 1, arbitrary: fc.constant(RUNS_PER_BLOCK) },
    ),
    lists: fc.constantFrom(
      'whole',
      'whole',
      'whole',
      'whole',
      'whole',
      'whole',
      'short',
      'with null',
      'from 0',
    ),
  })
  .chain((run) =>
    fc.record({
      run: fc.constant(run),
      items: fc.array(counts, { minLength: run.datasets.length, maxLength: run.datasets.length }),
      rows: fc.array(counts, { minLength: run.datasets.length, maxLength: run.datasets.length }),
    }),
  );
type MadeRun = typeof madeRun extends fc.Arbitrary<infer Made> ? Made : never;

const listOf = (values: readonly bigint[], lists: string) => {
  if (lists === 'short') return `{${values.slice(1).join(',')}}`;
  if (lists === 'with null') return `{${['null', ...values.slice(1)].join(',')}}`;
  return lists === 'from 0' ? `[0:${values.length - 1}]={${values.join(',')}}` : `{${values.join(',')}}`;
};

async function insert(runs: readonly MadeRun[]): Promise<void> {
  await sql`truncate recorder.runs, recorder.packed_runs`;
  let id = 0;
  for (const { run, items, rows } of runs) {
    id += run.skipped;
    const at = `${new Date(now - week + 3_600_000).toISOString()}`;
    await sql`
      insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, axis, window_from, window_to, started_at,
        finished_at, pages, items, rows_written, requests, budget_units, quarantined, note, error)
      select ${id}, 's', ${run.target}, ${run.datasets}::text[], ${run.reason}, ${run.status}, ${run.worker}, ${run.axis},
        ${run.from === null ? null : String(run.from)}::text::bigint, ${run.to === null ? null : String(run.to)}::text::bigint, b.began,
        case when ${run.status} <> 'running' then b.began + ${String(run.took)}::text::bigint * interval '1 microsecond' end,
        ${run.pages}, ${listOf(items, run.lists)}::text::bigint[], ${listOf(rows, run.lists)}::text::bigint[],
        ${run.requests}, ${String(run.units)}::text::bigint, ${run.quarantined}, ${run.note}, ${run.error}
      from (select ${at}::timestamptz - ${String(run.began)}::text::bigint * interval '1 microsecond' as began) b`;
  }
  await sql`
    insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
    values (${id + RUNS_PER_BLOCK}, 's', 'newest', '{one}', 'poll', 'done', 'w', ${new Date(now)}, ${new Date(now)}, '{1}', '{1}')`;
}

/** All that the view shows, as texts. */
async function shown(): Promise<string[]> {
  const rows = await sql<{ row: string }[]>`
    select r::text || to_jsonb(r)::text as row from reporting.runs r order by run_id, dataset, row`;
  return rows.map(({ row }) => row);
}

describe('old runs that wrote rows', () => {
  it('read the same before and after they are packed, whatever they hold', async () => {
    let packed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(madeRun, { minLength: 30, maxLength: 60 }), async (runs) => {
        await insert(runs);
        const before = await shown();
        const moved = await packRuns(sql, now, week, signal);
        packed += moved;
        expect(await shown()).toEqual(before);
        const [left] = await sql<{ runs: number; packed: number }[]>`
          select (select count(*) from recorder.runs)::int as runs,
            (select coalesce(sum(runs), 0) from recorder.packed_runs)::int as packed`;
        expect(left).toEqual({ runs: runs.length + 1 - moved, packed: moved });
        expect(await packRuns(sql, now, week, signal), 'nothing is left to pack').toBe(0);
      }),
      { numRuns: 30 },
    );
    expect(packed, 'most of it was packed').toBeGreaterThan(200);
  });

  it('are found by number, by time and page by page as before they were packed', async () => {
    await many(20_000);
    const read = async () => {
      const pages: unknown[] = [];
      let before: string | null | undefined;
      for (let page = 0; page < 4; page++) {
        const { runs, next } = await runPage(sql, before ? { before } : { until: now - 20 * day });
        pages.push(runs, next);
        before = next;
      }
      const lists: unknown[] = [];
      for (const asked of [
        { sort: '-run_id', 'run_id.lt': '9000', dataset: 'two' },
        { sort: 'run_id', 'run_id.gte': '8190', limit: '5' },
        { run_id: '12345' },
        { 'run_id.gt': '8191', sort: 'run_id', limit: '3' },
      ]) {
        const question = rowsParameters(readableRuns()).parse(asked);
        const page = await readRows(sql, readableRuns(), question);
        lists.push(page);
        if (page.next !== null)
          lists.push(
            await readRows(
              sql,
              readableRuns(),
              rowsParameters(readableRuns()).parse({ ...asked, after: page.next }),
            ),
          );
      }
      return { pages, lists, one: await runRows(sql, '12345'), rare: await runPage(sql, { dataset: 'two' }) };
    };
    const before = await read();
    expect(await packRuns(sql, now, week, signal)).toBeGreaterThan(15_000);
    expect(await read()).toEqual(before);
    expect(before.one).toHaveLength(1);
  });

  it('stay where a member or a target recorded by hand asks for them by number', async () => {
    await many(8_300);
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, left_at, wanted_at, first_success_at)
      select 's', 'target 1', 'one', 1, true, null::timestamptz, now(), started_at from recorder.runs where run_id = 101
      union all select 's', 'target 2', 'one', 1, false, null, now(), '2020-01-01'::timestamptz
      union all select 's', 'target 3', 'one', 1, false, now(), now(), '2020-01-01'::timestamptz`;
    await packRuns(sql, now, week, signal);
    const left = await sql<{ target_key: string; last: number }[]>`
      select target_key, max(run_id)::int as last from recorder.runs where run_id < ${RUNS_PER_BLOCK} group by 1 order by 1`;
    expect([...left]).toEqual([
      { target_key: 'target 1', last: 101 },
      { target_key: 'target 2', last: expect.any(Number) },
    ]);
    expect(left[1]?.last).toBeGreaterThan(8_000);
    await sql`truncate recorder.target_datasets`;
    // What is left of a block is packed beside it.
    expect(await packRuns(sql, now, week, signal)).toBeGreaterThan(100);
    expect(await sql`select from recorder.packed_runs where run_block = 0`).toHaveLength(2);
  });

  it('are packed once by several at a time, also when they are ended in the middle', async () => {
    await many(40_000);
    const before = await sums();
    let killed = 0;
    const killing = setInterval(() => {
      sql`select pg_terminate_backend(pid) as gone from pg_stat_activity
        where datname = current_database() and query like '%as block from "recorder"."runs"%' and query not like '%pg_terminate_backend%' and state = 'active' limit 1`
        .then((rows) => {
          killed += rows.length;
        })
        .catch(() => {});
    }, 60);
    for (let round = 0; round < 8; round++)
      await Promise.all(
        [other, other, other].map((client) => packRuns(client, now, week, signal).catch(() => 0)),
      );
    clearInterval(killing);
    expect(killed).toBeGreaterThan(0);
    expect(await sums()).toEqual(before);
    await expect.poll(() => packRuns(sql, now, week, signal).catch(() => -1)).toBe(0);
    expect(await sums()).toEqual(before);
    const [left] = await sql<
      { old: number }[]
    >`select count(*)::int as old from recorder.runs where run_id < ${3 * RUNS_PER_BLOCK}`;
    expect(left?.old).toBe(0);
  });
});

const readableRuns = () => {
  const found = getCatalogue().views.get('runs');
  if (!found) throw new Error('there is no view of runs');
  return found;
};

/** Runs of some targets, one every two minutes up to two weeks ago. */
async function many(count: number): Promise<void> {
  await sql`truncate recorder.runs, recorder.packed_runs, recorder.target_datasets`;
  await sql`
    insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items,
      rows_written, requests, budget_units)
    select n, 's', 'target ' || n % 50, case n % 97 when 0 then '{one,two}' else '{one}' end::text[], 'poll', 'done', 'w', at,
      at + n % 500 * interval '1 millisecond', 1, case n % 97 when 0 then '{3,4}' else '{3}' end::bigint[],
      case n % 97 when 0 then '{3,4}' else array[1 + n % 3] end::bigint[], 1, 20
    from (select n, ${new Date(now - 14 * day)}::timestamptz - (${count} - n) * interval '2 minutes' as at
      from generate_series(1, ${count}::bigint) n) made`;
}

async function sums(): Promise<unknown> {
  const [row] = await sql`
    select count(*)::int, count(distinct run_id)::int as runs, sum(run_id)::text as ids, sum(rows_written)::text as rows,
      sum(extract(epoch from finished_at))::text as ends from reporting.runs`;
  return row;
}
