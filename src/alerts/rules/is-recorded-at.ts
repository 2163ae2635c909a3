import type postgres from 'postgres';

/** Whether there was a record of all of these datasets at a moment. Functions of the past refuse moments before it. */
export async function recordedBy(sql: postgres.Sql, at: Date, datasets: readonly string[]): Promise<boolean> {
  const rows = await sql`
    select dataset from reporting.recorded_since
    where dataset = any(${[...datasets]}::text[]) and greatest(recorded_since, kept_since) <= ${at}::timestamptz group by dataset`;
  return rows.length === new Set(datasets).size;
}
