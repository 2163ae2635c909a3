import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';

/**
 * Maximum clock difference that is not reported, in ms. Leases use the database's clock, windows use the
 * clock of this process.
 */
export const MAX_DATABASE_CLOCK_SKEW_MS = 2_000;

/** Returns the time of the database's clock minus the time of this process's clock, in ms. */
export async function measureClockSkew(sql: postgres.Sql, clock: Clock): Promise<number> {
  const before = clock();
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return Math.round((row?.now.getTime() ?? before) - (before + clock()) / 2);
}

/**
 * Returns the earlier of a time and the time of the database, for removals: a clock that is ahead would remove
 * recent data. Removing too late does no harm.
 * @param now in ms since 1970
 */
export async function readEarlierClock(sql: postgres.Sql, now: number): Promise<number> {
  const [database] = await sql<
    { now: number }[]
  >`select extract(epoch from clock_timestamp())::float8 * 1000 as now`;
  return Math.min(now, database?.now ?? now);
}
