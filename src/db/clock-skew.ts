import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';

/** Leases use the database's clock, windows use ours. A larger difference than this (ms) is reported. */
export const TOLERATED_SKEW = 2_000;

/** How far the database's clock is ahead of ours, in ms; negative: behind. */
export async function clockSkew(sql: postgres.Sql, clock: Clock): Promise<number> {
  const before = clock();
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return Math.round((row?.now.getTime() ?? before) - (before + clock()) / 2);
}
