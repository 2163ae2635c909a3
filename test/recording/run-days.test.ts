import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';
import { aggregateRuns } from '../../src/recording/run-days.ts';
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

interface MadeRun {
  readonly target: string;
  readonly reason: string;
  readonly status: string;
  /** Days ago it began and ended. */
  readonly age: number;
  readonly items: readonly [number, number];
  readonly rows: readonly [number, number];
  readonly requests: number;
}

const madeRun = fc.record<MadeRun>({
  target: fc.constantFrom('a', 'b'),
  reason: fc.constantFrom('poll', 'heal'),
  status: fc.constantFrom('done', 'done', 'partial', 'failed', 'lost', 'stopped', 'not-offered', 'running'),
  age: fc.integer({ min: 0, max: 200 }),
  items: fc.tuple(fc.nat(9), fc.nat(9)),
  rows: fc.oneof(fc.constant<[number, number]>([0, 0]), fc.tuple(fc.nat(1), fc.nat(1))),
  requests: fc.nat(5),
});

async function insert(runs: readonly MadeRun[]): Promise<void> {
  await sql`truncate recorder.runs, recorder.run_days`;
  for (const run of runs) {
    const at = new Date(now - run.age * day - 1000);
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items,
        rows_written, requests, budget_units, quarantined)
      values ('s', ${run.target}, '{one,two}', ${run.reason}, ${run.status}, 'w', ${at}, ${run.status === 'running' ? null : at},
        1, ${[...run.items]}::bigint[], ${[...run.rows]}::bigint[], ${run.requests}, ${run.requests * 10}, 2)`;
  }
}

/** What is counted, by the plainest of means: the days and months that the runs which went belong to. */
function counted(runs: readonly MadeRun[], keep: number) {
  const counts = new Map<string, number[]>();
  for (const run of runs) {
    if (run.status === 'running' || run.rows[0] + run.rows[1] > 0 || run.age * day + 1000 <= keep) continue;
    const began = new Date(now - run.age * day - 1000);
    const date = began.toISOString().slice(0, 10);
    // Of November 21 the month of 92 days before, August, is the oldest that is kept as days.
    const [span, starts] = date < '2026-08-01' ? ['month', `${date.slice(0, 7)}-01`] : ['day', date];
    ['one', 'two'].forEach((dataset, place) => {
      const key = [span, starts, dataset, run.target, run.reason].join(' ');
      const lead = place === 0 ? 1 : 0;
      const [failed, lost] = [Number(run.status === 'failed'), Number(run.status === 'lost')];
      const added = [
        1,
        failed,
        lost,
        lead,
        run.items[place] ?? 0,
        run.requests * lead,
        run.requests * 10 * lead,
        2 * lead,
      ];
      counts.set(
        key,
        (counts.get(key) ?? added.map(() => 0)).map((sum, at) => sum + (added[at] ?? 0)),
      );
    });
  }
  return Object.fromEntries(counts);
}

async function stored() {
  const rows = await sql<{ key: string; counts: string[] }[]>`
    select concat_ws(' ', span, starts_on, dataset, target_key, reason) as key,
      array[runs, failed, lost, pages, items, requests, budget_units, quarantined] as counts from recorder.run_days`;
  return Object.fromEntries(rows.map(({ key, counts }) => [key, counts.map(Number)]));
}

describe('runs that wrote nothing', () => {
  it('are counted up by day, later by month, and go; all others stay', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(madeRun, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        async (runs, days) => {
          await insert(runs);
          const going = runs.filter(
            ({ status, rows, age }) =>
              status !== 'running' && rows[0] + rows[1] === 0 && age * day + 1000 > days * day,
          );
          expect(await aggregateRuns(sql, now, days * day, signal)).toBe(going.length);
          expect(await stored()).toEqual(counted(runs, days * day));
          const [left] = await sql<{ n: number }[]>`select count(*)::int as n from recorder.runs`;
          expect(left?.n).toBe(runs.length - going.length);
          expect(await aggregateRuns(sql, now, days * day, signal), 'nothing is counted again').toBe(0);
          expect(await stored()).toEqual(counted(runs, days * day));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are counted once by several at a time, also when one of them is ended in the middle', async () => {
    await sql`truncate recorder.runs, recorder.run_days`;
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      select 's', 'target ' || n % 50, '{one}', 'poll', 'done', 'w', at, at, '{3}', '{0}'
      from (select n, ${new Date(now)}::timestamptz - n * interval '5 minutes' as at from generate_series(3000, 23000) n) made`;
    const killing = setInterval(() => {
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%run_days%' and query not like '%pg_terminate_backend%' limit 1`.catch(
        () => {},
      );
    }, 20);
    await Promise.all(
      [other, other, other].map((client) => aggregateRuns(client, now, 7 * day, signal).catch(() => 0)),
    );
    clearInterval(killing);
    await expect.poll(() => aggregateRuns(sql, now, 7 * day, signal).catch(() => -1)).toBe(0);
    const [sums] = await sql`select sum(runs)::int as runs, sum(items)::int as items from reporting.run_days`;
    const [left] = await sql`select count(*)::int as runs from recorder.runs`;
    expect({ sums, left }).toEqual({ sums: { runs: 20_001, items: 60_003 }, left: { runs: 0 } });
  });
});
