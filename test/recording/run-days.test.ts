import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';
import { aggregateRuns, type RunRetention } from '../../src/recording/run-days.ts';
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
const signal = new AbortController().signal;

interface StoredRun {
  readonly target: string;
  readonly reason: string;
  readonly status: string;
  /** Days since its start and end. */
  readonly age: number;
  readonly items: readonly [number, number];
  readonly rows: readonly [number, number];
  readonly requests: number;
}

const storedRun = fc.record<StoredRun>({
  target: fc.constantFrom('a', 'b'),
  reason: fc.constantFrom('poll', 'heal'),
  status: fc.constantFrom('done', 'done', 'partial', 'failed', 'lost', 'stopped', 'unsupported', 'running'),
  age: fc.integer({ min: 0, max: 200 }),
  items: fc.tuple(fc.nat(9), fc.nat(9)),
  rows: fc.oneof(fc.constant<[number, number]>([0, 0]), fc.tuple(fc.nat(1), fc.nat(1))),
  requests: fc.nat(5),
});

async function insertRuns(runs: readonly StoredRun[]): Promise<void> {
  await sql`truncate recorder.runs, recorder.run_days`;
  for (const run of runs) {
    const at = new Date(now - run.age * day - 1000);
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items,
        rows_written, requests, budget_units, quarantined)
      values ('s', ${run.target}, '{one,two}', ${run.reason}, ${run.status}, 'w', ${at}, ${run.status === 'running' ? null : at},
        1, ${[...run.items]}::bigint[], ${[...run.rows]}::bigint[], ${run.requests}, ${run.requests * 10}, 2)`;
  }
  await insertNewest();
}

/** The newest run, which is never removed. */
const insertNewest = () => sql`
  insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, items, rows_written)
  values ('s', 'newest', '{one}', 'poll', 'running', 'w', ${new Date(now)}, '{0}', '{0}')`;

/** Returns whether a run is old enough to be removed, by a plain computation. */
const isRemoved = ({ status, rows, age }: StoredRun, { keep, keepWritten }: RunRetention) =>
  status !== 'running' && age * day + 1000 > (rows[0] + rows[1] > 0 ? keepWritten : keep);

/** The expected counts, by a plain computation: the days and months of the removed runs. */
function computeExpectedDays(runs: readonly StoredRun[], keep: RunRetention) {
  const counts = new Map<string, number[]>();
  for (const run of runs) {
    if (!isRemoved(run, keep)) continue;
    const startedAt = new Date(now - run.age * day - 1000);
    const date = startedAt.toISOString().slice(0, 10);
    // On November 21 the month of 92 days before, August, is the oldest that is kept as days.
    const [span, startsOn] = date < '2026-08-01' ? ['month', `${date.slice(0, 7)}-01`] : ['day', date];
    ['one', 'two'].forEach((dataset, place) => {
      const key = [span, startsOn, dataset, run.target, run.reason].join(' ');
      const lead = place === 0 ? 1 : 0;
      const [failed, lost] = [Number(run.status === 'failed'), Number(run.status === 'lost')];
      const values = [
        1,
        failed,
        lost,
        lead,
        run.items[place] ?? 0,
        run.rows[place] ?? 0,
        run.requests * lead,
        run.requests * 10 * lead,
        2 * lead,
      ];
      counts.set(
        key,
        (counts.get(key) ?? values.map(() => 0)).map((sum, at) => sum + (values[at] ?? 0)),
      );
    });
  }
  return Object.fromEntries(counts);
}

async function selectRunDays() {
  const rows = await sql<{ key: string; counts: string[] }[]>`
    select concat_ws(' ', span, starts_on, dataset, target_key, reason) as key,
      array[runs, failed, lost, pages, items, rows_written, requests, budget_units, quarantined] as counts from recorder.run_days`;
  return Object.fromEntries(rows.map(({ key, counts }) => [key, counts.map(Number)]));
}

describe('old runs', () => {
  it('are counted by day, later by month, and removed: those with rows later than others', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(storedRun, { maxLength: 40 }),
        fc.record({
          keep: fc.integer({ min: 1, max: 40 }).map((days) => days * day),
          keepWritten: fc.integer({ min: 1, max: 100 }).map((days) => days * day),
        }),
        async (runs, keep) => {
          await insertRuns(runs);
          const removed = runs.filter((run) => isRemoved(run, keep));
          expect(await aggregateRuns(sql, now, keep, signal)).toBe(removed.length);
          expect(await selectRunDays()).toEqual(computeExpectedDays(runs, keep));
          const [remaining] = await sql<{ n: number }[]>`select count(*)::int as n from recorder.runs`;
          expect(remaining?.n).toBe(runs.length + 1 - removed.length);
          expect(await aggregateRuns(sql, now, keep, signal), 'nothing is counted again').toBe(0);
          expect(await selectRunDays()).toEqual(computeExpectedDays(runs, keep));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are counted once by several processes, also when one of them is ended in the middle', async () => {
    await sql`truncate recorder.runs, recorder.run_days`;
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      select 's', 'target ' || n % 50, '{one}', 'poll', 'done', 'w', at, at, '{3}', array[n % 2]
      from (select n, ${new Date(now)}::timestamptz - n * interval '5 minutes' as at from generate_series(3000, 23000) n) made`;
    await insertNewest();
    const keep = { keep: 7 * day, keepWritten: 8 * day };
    const killing = setInterval(() => {
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%run_days%' and query not like '%pg_terminate_backend%' limit 1`.catch(
        () => {},
      );
    }, 20);
    await Promise.all(
      [other, other, other].map((client) => aggregateRuns(client, now, keep, signal).catch(() => 0)),
    );
    clearInterval(killing);
    await expect.poll(() => aggregateRuns(sql, now, keep, signal).catch(() => -1)).toBe(0);
    const [sums] =
      await sql`select sum(runs)::int as runs, sum(items)::int as items, sum(rows_written)::int as rows from reporting_internal.run_days`;
    const [remaining] = await sql`select count(*)::int as runs from recorder.runs`;
    expect({ sums, remaining }).toEqual({
      sums: { runs: 20_001, items: 60_003, rows: 10_000 },
      remaining: { runs: 1 },
    });
  });

  it('are kept while a member or a target recorded by hand references them', async () => {
    await sql`truncate recorder.runs, recorder.run_days`;
    await sql`
      insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      select n, 's', 'target ' || n % 3, '{one}', 'poll', 'done', 'w', at, at, '{3}', '{1}'
      from (select n, ${new Date(now)}::timestamptz - interval '1 year' + n * interval '1 minute' as at from generate_series(1, 90) n) made`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, left_at, requested_since, first_success_at)
      select 's', 'target 0', 'one', 1, true, null::timestamptz, now(), started_at from recorder.runs where run_id = 9
      union all select 's', 'target 1', 'one', 1, false, null, now(), '2020-01-01'::timestamptz
      union all select 's', 'target 2', 'one', 1, false, now(), now(), '2020-01-01'::timestamptz`;
    await aggregateRuns(sql, now, { keep: 7 * day, keepWritten: 90 * day }, signal);
    const remaining = await sql<{ target_key: string; runs: number; last: number }[]>`
      select target_key, count(*)::int as runs, max(run_id)::int as last from recorder.runs group by 1 order by 1`;
    expect([...remaining]).toEqual([
      { target_key: 'target 0', runs: 4, last: 90 },
      { target_key: 'target 1', runs: 30, last: 88 },
    ]);
  });

  it('uses the earlier of two clocks: one that is ahead removes nothing', async () => {
    await sql`truncate recorder.runs, recorder.run_days`;
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      select 's', 'recent', '{one}', 'poll', 'done', 'w', at, at, '{0}', '{0}' from (select now() - interval '1 day') recent(at)`;
    await insertNewest();
    const tenYears = Date.now() + 3_650 * day;
    expect(await aggregateRuns(other, tenYears, { keep: 30 * day, keepWritten: 90 * day }, signal)).toBe(0);
  });
});
