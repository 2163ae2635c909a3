import type postgres from 'postgres';
import { z } from 'zod';
import type { ParameterizedStatement } from './statement.ts';

const plan = z.array(
  z.object({
    Plan: z.looseObject({ 'Node Type': z.string(), 'Plan Rows': z.number(), 'Total Cost': z.number() }),
  }),
);

/** Returns the estimate of PostgreSQL's planner for a select, without running it. */
export async function explainQuery(
  sql: postgres.Sql,
  select: string,
  values: ParameterizedStatement['values'],
) {
  const [explained] = await sql.unsafe<{ 'QUERY PLAN': unknown }[]>(`explain (format json) ${select}`, [
    ...values,
  ]);
  return plan.parse(explained?.['QUERY PLAN'])[0]?.Plan;
}
