import type postgres from 'postgres';
import { explainQuery } from './query-plan.ts';
import type { Relation } from './relation.ts';
import type { RowsQuery } from './row-query.ts';
import { matchingSql } from './rows.ts';
import { StatementBuilder } from './statement.ts';

/** A number of rows. */
export interface RowCount {
  readonly rows: number;
  /** True if the rows were counted; false if PostgreSQL estimated their number. */
  readonly exact: boolean;
}

/**
 * Maximum estimated cost of an exact count, in the cost units of PostgreSQL. Such a count takes some tens of
 * ms.
 */
const MAX_COUNT_COST = 20_000;

/**
 * Returns the number of rows of all pages. Rows are counted only if the estimated cost is low, because a
 * count of millions of rows takes seconds.
 * @returns null if even an estimate would require reading all rows, as for functions and packed readings
 */
export async function countRows(
  sql: postgres.Sql,
  relation: Relation,
  query: RowsQuery,
): Promise<RowCount | null> {
  if (relation.entities?.packed) return null;
  const into = new StatementBuilder();
  const rows = matchingSql(relation, { ...query, after: null }, into).join('\n');
  const top = await explainQuery(sql, `select 1 ${rows}`, into.values);
  if (!top || top['Node Type'] === 'Function Scan') return null;
  if (top['Total Cost'] > MAX_COUNT_COST) return { rows: top['Plan Rows'], exact: false };
  const [counted] = await sql.unsafe<{ count: string }[]>(
    `select count(*)::text as count ${rows}`,
    into.values,
  );
  return { rows: Number(counted?.count ?? 0), exact: true };
}
