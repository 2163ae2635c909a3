import type postgres from 'postgres';
import { planOf } from './query-plan.ts';
import type { Readable } from './readable.ts';
import type { RowsQuestion } from './row-query.ts';
import { matching } from './rows.ts';
import { Statement } from './statement.ts';

/** A number of rows. */
export interface RowCount {
  readonly rows: number;
  /** True: counted. False: estimated by PostgreSQL. */
  readonly exact: boolean;
}

/** Maximum estimated cost of an exact count, in PostgreSQL's cost units: some tens of ms. */
const CHEAP = 20_000;

/**
 * Returns the number of rows that match, over all pages. Rows are counted only if that is cheap: a count of
 * millions takes seconds.
 * @returns null if even an estimate would require reading all rows, as with functions and packed readings
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
