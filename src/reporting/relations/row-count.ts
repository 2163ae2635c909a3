import type postgres from 'postgres';
import { planOf } from './query-plan.ts';
import type { Readable } from './readable.ts';
import type { RowsQuestion } from './row-query.ts';
import { matching } from './rows.ts';
import { Statement } from './statement.ts';

/** How many rows there are. */
export interface RowCount {
  readonly rows: number;
  /** Counted; else PostgreSQL's estimate. */
  readonly exact: boolean;
}

/** Rows are counted where PostgreSQL's planner expects at most this cost: some tens of milliseconds. */
const CHEAP = 20_000;

/**
 * How many rows match, on whichever page. They are counted only where that is cheap: the count of millions takes seconds.
 * @returns null: nobody knows without reading them all, as with functions and packed readings
 */
export async function rowCount(
  sql: postgres.Sql,
  readable: Readable,
  question: RowsQuestion,
): Promise<RowCount | null> {
  if (readable.things?.packed) return null;
  const into = new Statement();
  const rows = matching(readable, { ...question, after: null }, into).join('\n');
  const top = await planOf(sql, `select 1 ${rows}`, into.values);
  if (!top || top['Node Type'] === 'Function Scan') return null;
  if (top['Total Cost'] > CHEAP) return { rows: top['Plan Rows'], exact: false };
  const [counted] = await sql.unsafe<{ count: string }[]>(
    `select count(*)::text as count ${rows}`,
    into.values,
  );
  return { rows: Number(counted?.count ?? 0), exact: true };
}
