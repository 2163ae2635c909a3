import type postgres from 'postgres';

/**
 * Returns true if all of these datasets were recorded at a moment. Functions with as-of reject earlier
 * moments.
 */
export async function isRecordedAt(
  sql: postgres.Sql,
  at: Date,
  datasets: readonly string[],
): Promise<boolean> {
  const rows = await sql`
    select dataset from reporting_internal.recorded_since
    where dataset = any(${[...datasets]}::text[]) and greatest(recorded_since, kept_since) <= ${at}::timestamptz group by dataset`;
  return rows.length === new Set(datasets).size;
}
