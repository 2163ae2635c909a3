import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { CONNECTION_OPTIONS } from './client.ts';
import { connect } from './connect.ts';
import { LOCK_SCHEMA } from './row-lock.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** A session that holds locks. Details that this user has no right to read are null. */
export interface LockingSession {
  readonly pid: number;
  readonly user: string | null;
  readonly application: string | null;
  readonly state: string | null;
  /** The start of the transaction of the session, or of the session if there is no transaction. */
  readonly since: Date | null;
  /** True if the session blocks a session of the recorder now. */
  readonly isBlocking: boolean;
}

const COLUMNS = `a.pid, a.usename as user, nullif(a.application_name, '') as application, a.state,
  coalesce(a.xact_start, a.backend_start) as since`;

/** Interval of the query for sessions that block another session, in ms. */
const WATCH_INTERVAL_MS = 300;
/**
 * Age from which a session with locks on the recorder's tables is reported even if the session blocks no
 * other session, in s.
 */
const REPORTED_AFTER_SECONDS = 60;

/** Returns whether a session is a migration by another process. Such a session must not be ended. */
export const isMigration = ({ application }: LockingSession): boolean =>
  application === sessionSettings('migration').application_name;

/** Describes a session for people. */
export const formatSession = ({ pid, user, application, state, since }: LockingSession): string =>
  [
    `process ${pid}`,
    ...(user ? [`user "${user}"`] : []),
    ...(application ? [`application "${application}"`] : []),
    ...(state ? [state] : []),
    ...(since ? [`since ${since.toISOString()}`] : []),
  ].join(', ');

/**
 * Polls for the sessions that block a session, on a separate connection. `stop` returns the sessions that were
 * found last.
 */
export function watchBlockers(url: string, pid: number): { stop(): Promise<readonly LockingSession[]> } {
  const session = connect(url, silenceOf('work'), { ...CONNECTION_OPTIONS, max: 1 });
  const stopped = new AbortController();
  let last: readonly LockingSession[] = [];
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      const found = await session.unsafe<LockingSession[]>(
        `select ${COLUMNS}, true as "isBlocking" from pg_stat_activity a where a.pid = any(pg_blocking_pids($1))`,
        [pid],
      );
      if (found.length > 0) last = found;
      await delay(WATCH_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })().catch(() => {}); // after an error, `stop` returns the sessions that were found before
  return {
    stop: async () => {
      stopped.abort();
      await watching;
      await session.end({ timeout: 1 });
      return last;
    },
  };
}

/**
 * Returns the sessions of other programs that hold locks on the recorder's objects. A session is listed after
 * `after` seconds, or as soon as its locks block the recorder.
 */
export async function findForeignLocks(
  sql: postgres.Sql,
  after = REPORTED_AFTER_SECONDS,
): Promise<readonly LockingSession[]> {
  return sql.unsafe<LockingSession[]>(
    `with waiting as materialized (
      select pg_blocking_pids(pid) as blockers from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and application_name like 'chain-recorder%'),
    holding as materialized (
      select distinct l.pid from pg_locks l left join pg_class c on c.oid = l.relation
      where l.granted and l.database = (select oid from pg_database where datname = current_database())
        and (l.locktype = 'advisory' or c.relnamespace in (
          select to_regnamespace(name) from unnest(array['recorder', 'reporting', 'reporting_lists', 'reporting_internal', 'bullmq', '${LOCK_SCHEMA}']) as name)))
    select ${COLUMNS}, b.blocks as "isBlocking"
    from holding h join pg_stat_activity a using (pid)
    cross join lateral (select exists (select from waiting w where a.pid = any(w.blockers)) as blocks) b
    where a.application_name not like 'chain-recorder%' and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
      and (b.blocks or a.xact_start < now() - make_interval(secs => $1) or a.xact_start is null)
    order by b.blocks desc, since limit 10`,
    [after],
  );
}
