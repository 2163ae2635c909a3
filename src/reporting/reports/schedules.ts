import type postgres from 'postgres';

/** A schedule: a row of `reporting_internal.schedules`. */
export interface ScheduleStatus {
  readonly schedule: string;
  /** Interval between two ticks, in seconds. */
  readonly every: number;
  /** The next tick; null if the queue did not contain the schedule. */
  readonly next_at: Date | null;
  readonly missing_since: Date | null;
  readonly seen_at: Date;
}

/**
 * Returns the schedules as last observed by the process that runs them: missing schedules first, then the
 * others by their next tick.
 */
export async function schedulesNow(sql: postgres.Sql): Promise<ScheduleStatus[]> {
  return sql<ScheduleStatus[]>`
    select schedule, extract(epoch from expected_every)::float8 as every, next_at, missing_since, seen_at
    from reporting_internal.schedules order by missing_since nulls last, next_at nulls first, schedule`;
}
