import { statfs } from 'node:fs/promises';
import type postgres from 'postgres';

/** The disk use of the recorded data and the free space, in bytes. */
export interface DiskUse {
  readonly database: number;
  /** The largest datasets, in descending order of size. */
  readonly largest: readonly { readonly dataset: string; readonly bytes: number }[];
  /** The growth per day, at the rate of the last sealed days. Null: the growth cannot be estimated yet. */
  readonly perDay: number | null;
  /**
   * The free space on the disk of the database. Null: the database is on another machine, or the free space
   * is unknown.
   */
  readonly free: number | null;
}

const MAX_DATASETS = 5;

/**
 * Reads the disk use. The daily growth is estimated from the number of rows in the seals of the last week,
 * and from the current mean size of the rows of each dataset. The first day is excluded, because the first
 * recording is larger than usual.
 * @param directory the folder of the database; null if it is on another machine
 */
export async function diskUse(sql: postgres.Sql, directory: string | null): Promise<DiskUse> {
  const [whole] = await sql<
    { bytes: number }[]
  >`select pg_database_size(current_database())::float8 as bytes`;
  const datasets = await sql<{ dataset: string; bytes: number; per_day: number | null }[]>`
    with written as (
      select dataset, sum(rows_written)::float8 as rows, min(requested_since) as requested_since from reporting.freshness group by dataset
    ),
    -- Packed readings of all datasets share tables. Each dataset counts its share of the readings.
    packed as (
      select array_agg(distinct dataset::text) as tables, (select sum(pg_total_relation_size(one))
        from unnest(array['recorder.reading_open', 'recorder.reading_observations', 'recorder.reading_days', 'recorder.reading_members']::regclass[]) one)
        as bytes from recorder.reading_scopes
    ),
    readings as (
      select sum(rows) as rows from written, packed where 'recorder.' || quote_ident(dataset) = any(tables)
    ),
    sizes as (
      select dataset, written.rows, pg_total_relation_size(to_regclass('recorder.' || quote_ident(dataset)))::float8
        + case when 'recorder.' || quote_ident(dataset) = any(packed.tables)
            then coalesce(packed.bytes * written.rows / nullif(readings.rows, 0), 0) else 0 end as bytes
      from written, packed, readings
    ),
    days as (
      select min(seal) as first, max(seal) as last, extract(epoch from max(sealed_until) - min(sealed_until)) / 86400 as count
      from reporting_internal.seal_heads
      where sealed_until > now() - interval '8 days'
        and sealed_until >= (select min(requested_since) from written) + interval '1 day'
    ),
    sealed as (
      select s.dataset, sum(s.rows) / days.count as per_day
      from days join reporting.seals s on s.seal > days.first and s.seal <= days.last
      where days.count > 0
      group by s.dataset, days.count
    )
    select dataset, coalesce(bytes, 0) as bytes, (sealed.per_day * bytes / nullif(rows, 0))::float8 as per_day
    from sizes left join sealed using (dataset)
    order by bytes desc nulls last, dataset`;
  const paces = datasets.flatMap(({ per_day }) => per_day ?? []);
  return {
    database: whole?.bytes ?? 0,
    largest: datasets.slice(0, MAX_DATASETS).map(({ dataset, bytes }) => ({ dataset, bytes })),
    perDay: paces.length === 0 ? null : paces.reduce((sum, one) => sum + one, 0),
    free: directory === null ? null : await freeIn(directory),
  };
}

/** Returns the space that is available to an unprivileged user. Returns null if it is unknown. */
async function freeIn(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * Returns the time at which the disk is full at the current rate, in ms since 1970. Returns null if this time
 * is unknown or more than 100 years away.
 * @param now in ms since 1970
 */
export function fullAt({ perDay, free }: DiskUse, now: number): number | null {
  if (perDay === null || free === null || perDay <= 0) return null;
  const days = free / perDay;
  return days > 36_500 ? null : now + days * 86_400_000;
}
