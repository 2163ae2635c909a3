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
