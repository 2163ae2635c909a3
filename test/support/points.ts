import type postgres from 'postgres';

/**
 * Creates the function `public.series_of(chain_id, metric, time_interval)`, with which tests write metric points: it
 * returns the number of their series, which it adds if it is new.
 */
export async function makeSeriesOf(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    create or replace function public.series_of(text, text, text) returns integer language plpgsql as $$
    begin
      insert into recorder.metric_points_series (chain_id, metric, time_interval) select $1, $2, $3 where not exists (
        select from recorder.metric_points_series where (chain_id, metric, time_interval) = ($1, $2, $3));
      return (select series_id from recorder.metric_points_series where (chain_id, metric, time_interval) = ($1, $2, $3));
    end $$`);
}
