import { expect } from 'vitest';
import { type RunFilter, readRunPage } from '../../../src/reporting/reports/runs.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ max: 2 });

/** Runs of three datasets each. @param failed the number of the one that failed */
async function record(count: number, failed: number): Promise<void> {
  await sql`truncate recorder.runs`;
  await sql`
  insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
  select n, 's', 't', '{one,three,two}', 'poll', case when n = ${failed} then 'failed' else 'done' end, 'w', now(), now(), '{1,1,1}', '{1,1,1}'
  from generate_series(1, ${count}::int) n`;
}

/** Returns the rows of all pages, and the number of pages. */
async function readAllPages(filter: RunFilter) {
  const rows: string[] = [];
  let pages = 0;
  for (let before: string | undefined | null; before !== null; pages++) {
    const page = await readRunPage(sql, { ...filter, before });
    rows.push(...page.runs.map(({ run_id, dataset }) => `${run_id} ${dataset}`));
    before = page.next;
  }
  return { rows, pages };
}

it('shows every dataset of a run on one page, and each row once', async () => {
  await record(60, 1);
  const { rows, pages } = await readAllPages({});
  expect(rows).toEqual(
    Array.from({ length: 60 }, (_, at) => ['one', 'three', 'two'].map((name) => `${60 - at} ${name}`)).flat(),
  );
  expect(pages).toBe(4);
  expect((await readAllPages({ dataset: 'two' })).rows).toHaveLength(60);
});

it('starts at the last run that started before a moment, on every page', async () => {
  await record(200, 1);
  const start = Date.UTC(2026, 0, 1);
  await sql`update recorder.runs set started_at = ${new Date(start)}::timestamptz + run_id * interval '1 minute'`;
  for (const [until, count] of [
    [start, 0],
    [start + 60_000, 0],
    [start + 60_001, 1],
    [start + 100.5 * 60_000, 100],
    [start + 1e9, 200],
  ] as const) {
    const { rows } = await readAllPages({ dataset: 'two', until });
    expect(rows).toEqual(Array.from({ length: count }, (_, at) => `${count - at} two`));
  }
});

it('reads runs only as far as it shows them', async () => {
  // 20,000 rows are 6,666 runs and two datasets of the next one.
  await record(7_000, 334);
  expect(await readAllPages({ status: 'failed' })).toEqual({
    rows: ['334 one', '334 three', '334 two'],
    pages: 2,
  });
});
