import type postgres from 'postgres';

/**
 * Lease of a sink, in seconds. After this time without renewal, another worker takes over the sink. A request
 * takes less time.
 */
const LEASE_SECONDS = 30;
/** Backoff after the first failure, in ms. The backoff doubles with each failure. */
const MIN_BACKOFF_MS = 1_000;
/** Maximum backoff after a failure, in ms. */
const MAX_BACKOFF_MS = 300_000;

/** Lease of one sink of a recorder. */
export interface SinkLease {
  readonly recorder: string;
  readonly sink: string;
  readonly holder: number;
  /** Cursor of the last change that the sink accepted; null if there is none. */
  readonly cursor: string | null;
}

/**
 * Acquires the lease of a sink with pending changes, unless another worker holds it or a retry is not due
 * yet. A new sink starts at `startAt`.
 * @returns null if the lease is not available or no changes are pending
 */
export async function acquireSink(
  sql: postgres.Sql,
  recorder: string,
  sink: string,
  startAt: 'earliest' | 'now',
): Promise<SinkLease | null> {
  const [row] = await sql<{ holder: string; cursor: string | null }[]>`
    with newest as materialized (
      select cursor, commit_number from reporting.change_commits order by commit_number desc limit 1
    ), begun as (
      insert into recorder.change_sinks (recorder, sink, cursor, commit_number)
      select ${recorder}, ${sink}, n.cursor, n.commit_number from (select) one
      left join newest n on ${startAt === 'now'} on conflict do nothing
    )
    update recorder.change_sinks s set holder = s.holder + 1, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from newest n
    where s.recorder = ${recorder} and s.sink = ${sink} and s.cursor is distinct from n.cursor
      and (s.lease_until is null or s.lease_until < now()
        -- A lease that ends after the full lease time from now was stored before the clock was set back.
        or s.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
      and (s.next_try_at is null or s.next_try_at <= now()
        or s.next_try_at > clock_timestamp() + make_interval(secs => ${MAX_BACKOFF_MS / 1000}))
    returning s.holder, s.cursor`;
  return row ? { recorder, sink, holder: Number(row.holder), cursor: row.cursor } : null;
}

/**
 * Stores the cursor up to which the sink accepted changes, and extends the lease.
 * @returns false if another worker took over the sink meanwhile; that worker may send these changes again
 */
export async function storeSinkProgress(
  sql: postgres.Sql,
  { recorder, sink, holder }: SinkLease,
  cursor: string | null,
  count: number,
): Promise<boolean> {
  const rows = await sql`
    update recorder.change_sinks set cursor = ${cursor}, commit_number = split_part(${cursor}, '.', 1)::bigint, sent = sent + ${count},
      sent_at = clock_timestamp(),
      failing_since = null, failures = 0, error = null, next_try_at = null, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where recorder = ${recorder} and sink = ${sink} and holder = ${holder} returning 1`;
  return rows.length === 1;
}

/** Stores a failed delivery and releases the lease. The next attempt follows after an exponential backoff. */
export async function storeSinkFailure(
  sql: postgres.Sql,
  { recorder, sink, holder }: SinkLease,
  error: string,
  wait: number | null,
): Promise<void> {
  await sql`
    update recorder.change_sinks set failing_since = coalesce(failing_since, now()), failures = failures + 1, error = ${error},
      lease_until = null, next_try_at = now() + make_interval(secs => least(${MAX_BACKOFF_MS}::float8,
        greatest(${wait ?? 0}::float8, ${MIN_BACKOFF_MS} * power(2, least(failures, 10)))) / 1000)
    where recorder = ${recorder} and sink = ${sink} and holder = ${holder}`;
}

/** Releases the lease of a sink. */
export async function releaseSink(sql: postgres.Sql, { recorder, sink, holder }: SinkLease): Promise<void> {
  await sql`
    update recorder.change_sinks set lease_until = null
    where recorder = ${recorder} and sink = ${sink} and holder = ${holder}`;
}

/** Number of rows that one statement removes. */
const DELETE_BATCH_SIZE = 10_000;

/**
 * Deletes sinks that are no longer configured, and changes older than `keep` that every sink of any recorder
 * has accepted. The newest commit is kept, so that a reader that is up to date can continue.
 * @param keep retention, in ms
 * @returns the number of removed rows
 */
export async function removeOldChanges(
  sql: postgres.Sql,
  recorder: string,
  sinks: readonly string[],
  keep: number,
  signal: AbortSignal,
): Promise<number> {
  await sql`delete from recorder.change_sinks where recorder = ${recorder} and sink <> all(${[...sinks]}::text[])`;
  for (let removed = 0; ; ) {
    const [row] = await sql<{ removed: number }[]>`
      with bounds as materialized (
        select least(
          (select max(commit_number) from recorder.changes),
          (select min(coalesce(commit_number, 0)) from recorder.change_sinks),
          (select commit_number from recorder.changes where made_at >= now() - make_interval(secs => ${keep / 1000})
            order by commit_number limit 1)) as before
      ), old as materialized (
        select c.commit_number from recorder.changes c, bounds where c.commit_number < bounds.before order by 1 limit ${DELETE_BATCH_SIZE}
      ), deleted as (
        delete from recorder.changes c using old where c.commit_number = old.commit_number returning 1
      )
      select count(*)::int as removed from deleted`;
    removed += row?.removed ?? 0;
    if ((row?.removed ?? 0) < DELETE_BATCH_SIZE || signal.aborted) return removed;
  }
}
