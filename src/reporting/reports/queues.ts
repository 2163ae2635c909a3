import type postgres from 'postgres';

/** A queue as last observed by the process that runs the schedules: a row of `reporting_internal.queues`. */
export interface SeenQueue {
  readonly queue: string;
  readonly recorder: string;
  readonly waiting: number | null;
  readonly active: number | null;
  readonly error: string | null;
  readonly error_since: Date | null;
  readonly seen_at: Date;
}

/** Returns the queues that were observed within the last day, by recorder. */
export async function readSeenQueues(sql: postgres.Sql): Promise<SeenQueue[]> {
  return sql<SeenQueue[]>`
    select queue, recorder, waiting::float8, active::float8, error, error_since, seen_at from reporting_internal.queues
    where seen_at > now() - interval '1 day' order by recorder, queue desc`;
}
