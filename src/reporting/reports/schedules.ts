import type postgres from 'postgres';

/** A schedule: a row of `reporting.schedules`. */
export interface Schedule {
  readonly schedule: string;
  /** Seconds between two ticks. */
  readonly every: number;
  /** When it ticks next; null: the queue did not have it. */
  readonly next_at: Date | null;
  readonly missing_since: Date | null;
  readonly seen_at: Date;
}

/** The schedules, as whoever holds them in line saw them last: those that are missing first, then by their next tick. */
export async function schedulesNow(sql: postgres.Sql): Promise<Schedule[]> {
  const rows = await sql<Schedule[]>`
    select schedule, extract(epoch from expected_every)::float8 as every, next_at, missing_since, seen_at
    from reporting.schedules order by missing_since nulls last, next_at nulls first, schedule`;
  return [...rows];
}
