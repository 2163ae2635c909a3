import type postgres from 'postgres';

/** A point that was revised: its series, its first and its last value, and a moment at which the first was known. */
export interface RevisedPoint {
  readonly chain_id: string;
  readonly metric: string;
  readonly time_interval: string;
  readonly bucket_start: Date;
  readonly was: string;
  readonly until: Date;
  readonly is: string;
}

/** Lets the role of readers read: the dump of the recorded database has no rights in it. */
export async function letRead(sql: postgres.Sql): Promise<void> {
  await sql`grant usage on schema reporting, reporting_internal to recorder_reader`;
  await sql`grant select on all tables in schema reporting, reporting_internal to recorder_reader`;
  await sql`grant execute on all functions in schema reporting, reporting_internal to recorder_reader`;
}

/** Revises a point of the recorded database a minute after it was recorded. */
export async function revisePoint(sql: postgres.Sql): Promise<RevisedPoint> {
  const [row] = await sql<RevisedPoint[]>`
    with points as (
      select * from recorder.metric_points join recorder.metric_points_series using (series_id)
      where valid_to is null order by valid_from, chain_id, metric, bucket_start limit 1
    ),
    ended as (
      update recorder.metric_points m set valid_to = m.valid_from + interval '1 min' from points p
      where (m.series_id, m.bucket_start) = (p.series_id, p.bucket_start) and m.valid_to is null
      returning p.chain_id, p.metric, p.time_interval, m.*
    )
    select chain_id, metric, time_interval, bucket_start, value::text as was, (value + 1)::text as is,
      valid_from + interval '30 s' as until from ended`;
  if (!row) throw new Error('the recorded database has no points');
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    select series_id, bucket_start, value + 1, valid_to, run_id from recorder.metric_points
    join recorder.metric_points_series using (series_id)
    where valid_to is not null and not vanished and bucket_start = ${row.bucket_start}
      and (chain_id, metric, time_interval) = (${row.chain_id}, ${row.metric}, ${row.time_interval})`;
  return row;
}
