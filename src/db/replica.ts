import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { formatServerAddress, parseDatabaseUrl } from '../config/database-url.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { CONNECTION_OPTIONS } from './client.ts';
import { connectPool } from './connect.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { explainDatabaseError, isKnownRefusal } from './database-causes.ts';
import { isPoolerRefusal, POOLER_REASON, poolerFix } from './detect-pooler.ts';
import { ReplicaUnavailableError } from './replica-unavailable.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** Timeout of the query for a replica's position, in ms. */
const POSITION_TIMEOUT_MS = 5_000;

/** Session settings on a replica. */
const SETTINGS = sessionSettings('report');
const AS_POOLER = `${POOLER_REASON}: ${poolerFix('REPORTING_DATABASE_URL')}`;

/** The state of a replica when it was last checked. */
export interface FoundReplica {
  /** Lag behind the primary, in s; null if unknown. */
  readonly lagSeconds: number | null;
  /** Lag behind the primary, in bytes of WAL; null if unknown. */
  readonly lagBytes: number | null;
  /** Reason why the replica is not used, or should not be used; null if there is none. */
  readonly error: string | null;
  /**
   * True if the server responds, but refuses this user or is not a copy of the primary. Reads would fail or
   * be wrong, and a retry would not help.
   */
  readonly strange: boolean;
}

/** The WAL position of a server, and the state that determines whether the server is a copy. */
interface ServerPosition {
  readonly system: string;
  readonly timeline: number;
  readonly standby: boolean;
  /** Position in the WAL; on a standby the replayed position. */
  readonly lsn: string;
  readonly at: number;
  /** The session's statement timeout, in ms. */
  readonly timeout: string;
  /**
   * Commit time of the last transaction that a standby replayed, in s since 1970; null for a primary, or if
   * no transaction was replayed since the start.
   */
  readonly replayed_at: number | null;
}

const SERVER_POSITION_QUERY = `
  select (select system_identifier::text from pg_control_system()) as system, pg_is_in_recovery() as standby,
    case when pg_is_in_recovery()
      then coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()))
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
    (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as lsn,
    extract(epoch from clock_timestamp())::float8 as at,
    (select setting from pg_settings where name = 'statement_timeout') as timeout,
    extract(epoch from pg_last_xact_replay_timestamp())::float8 as replayed_at`;

async function queryServerPosition(sql: postgres.Sql): Promise<ServerPosition> {
  const [row] = await sql.unsafe<ServerPosition[]>(SERVER_POSITION_QUERY);
  if (!row) throw new Error('the query for the position returned no row');
  return row;
}

/**
 * Measures the lag of a replica behind its primary. The lag in seconds comes from the commit that was
 * replayed last. The recorder commits every few seconds, so this lag is accurate to about 5 s.
 * @param replica a client with the settings of {@link Replica}
 * @param url URL of the replica
 * @throws the primary's error if the primary does not respond
 */
async function measureReplica(
  primary: postgres.Sql,
  replica: postgres.Sql,
  url: string,
): Promise<FoundReplica> {
  const there = await queryServerPosition(primary);
  const over = new AbortController();
  const late = delay(POSITION_TIMEOUT_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no response within ${POSITION_TIMEOUT_MS / 1000} s`);
  });
  late.catch(() => {});
  try {
    const here = await Promise.race([queryServerPosition(replica), late]);
    const strange = here.timeout === SETTINGS.statement_timeout ? notCopyReason(here, there) : AS_POOLER;
    if (strange !== null) return { lagSeconds: null, lagBytes: null, error: strange, strange: true };
    const lagBytes = here.standby ? Math.max(0, position(there.lsn) - position(here.lsn)) : 0;
    const behind = here.replayed_at === null ? null : Math.max(0, there.at - here.replayed_at);
    return { lagSeconds: lagBytes === 0 ? 0 : behind, lagBytes, error: null, strange: false };
  } catch (error) {
    if (isPoolerRefusal(error)) return { lagSeconds: null, lagBytes: null, error: AS_POOLER, strange: true };
    if (isKnownRefusal(error)) {
      const { found, fix } = explainDatabaseError(error, url, 'REPORTING_DATABASE_URL');
      return { lagSeconds: null, lagBytes: null, error: `${found}: ${fix}`, strange: true };
    }
    const unreachable = `the replica does not respond (${toErrorMessage(error)}): queries on it fail until it responds; to read from the primary instead, unset REPORTING_DATABASE_URL and restart`;
    return { lagSeconds: null, lagBytes: null, error: unreachable, strange: false };
  } finally {
    over.abort();
  }
}

/** Returns why the replica is not a copy of the primary; null if the replica is a copy or the same server. */
function notCopyReason(here: ServerPosition, there: ServerPosition): string | null {
  if (here.system !== there.system)
    return 'the replica is not a copy of the server in DATABASE_URL: name a streaming standby of that server';
  if (!here.standby && here.timeline !== there.timeline)
    return 'the replica was promoted and no longer follows the server in DATABASE_URL: make it a standby of that server again (pg_rewind), or name another standby';
  return null;
}

/** Converts a position in the WAL, such as `16/B374D848`, to bytes. */
function position(lsn: string): number {
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

/** Lag from which a replica is reported as behind, in s. */
export const REPORTED_LAG_SECONDS = 60;

/**
 * SQLSTATE (serialization_failure) of a query that PostgreSQL cancelled on a standby because the query
 * blocked the replay.
 */
const CONFLICT = '40001';

/**
 * A replica that is read instead of the primary. If one of the two servers fails, the other does not take
 * over its reads, because the load would move with them.
 */
export class Replica {
  readonly url: string;
  /** Host, port and database, without user and password. */
  readonly address: string;
  /** Client for reads in single statements. */
  readonly sql: postgres.Sql;
  #found: FoundReplica | null = null;

  /**
   * Creates the clients of a replica. Connections are opened when they are needed.
   * @param url URL with a single server
   */
  constructor(url: string) {
    const { places, database } = parseDatabaseUrl(url);
    this.url = url;
    this.address = `${formatServerAddress(places[0])}/${database}`;
    this.sql = connectPool(url, silenceOf('report'), {
      ...CONNECTION_OPTIONS,
      max: 2,
      connection: SETTINGS,
    });
  }

  /** State of the replica at the last check; null before the first check. */
  get found(): FoundReplica | null {
    return this.#found;
  }

  /**
   * Checks the state of the replica.
   * @throws the primary's error if the primary does not respond
   */
  async check(primary: postgres.Sql): Promise<FoundReplica> {
    this.#found = await measureReplica(primary, this.sql, this.url);
    return this.#found;
  }

  /**
   * Refuses reads from a replica that is not a copy of the primary.
   * @throws ReplicaUnavailableError
   */
  hold(): void {
    if (this.#found?.strange) throw new ReplicaUnavailableError(this.#found.error ?? '');
  }

  /** Wraps the error of a read if the replica caused it; returns other errors unchanged. */
  explainError(error: unknown): unknown {
    const why = toErrorMessage(error);
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === CONFLICT)
      return new ReplicaUnavailableError(
        `${why}: the replica cancelled the query, which conflicted with the replay of changes: retry, or set hot_standby_feedback = on or a longer max_standby_streaming_delay on the replica`,
        { cause: error },
      );
    const silent = error instanceof Error && error.name === 'TimeoutError';
    return isDatabaseUnavailable(error) || silent
      ? new ReplicaUnavailableError(`the replica does not respond (${why})`, { cause: error })
      : error;
  }

  async close(): Promise<void> {
    await this.sql.end({ timeout: 5 });
  }
}

/**
 * Stores the state of a replica for status, doctor and pages. Rows of replicas that are no longer checked are
 * deleted after a day.
 */
export async function storeReplicaState(
  sql: postgres.Sql,
  recorder: string,
  replica: string,
  { lagSeconds, lagBytes, error }: FoundReplica,
): Promise<void> {
  const far = (lagSeconds ?? 0) > REPORTED_LAG_SECONDS;
  await sql`
    with forgotten as (
      delete from recorder.replicas
      where recorder = ${recorder} and replica <> ${replica} and now() - seen_at > interval '1 day'
    )
    insert into recorder.replicas as r (recorder, replica, lag_seconds, lag_bytes, error, error_since, behind_since, seen_at)
    select ${recorder}, ${replica}, ${lagSeconds}::float8, ${lagBytes}::int8, ${error}::text,
      case when ${error}::text is not null then now() end, case when ${far}::boolean then now() end, now()
    on conflict (recorder, replica) do update set lag_seconds = excluded.lag_seconds, lag_bytes = excluded.lag_bytes,
      error = excluded.error, seen_at = excluded.seen_at,
      error_since = case when excluded.error is not null then coalesce(r.error_since, excluded.seen_at) end,
      behind_since = case when excluded.behind_since is not null then coalesce(r.behind_since, excluded.seen_at) end`;
}

/** Describes the lag of a replica for people. */
export const lagText = ({ lagSeconds }: Pick<FoundReplica, 'lagSeconds'>): string =>
  lagSeconds === null
    ? 'its lag is unknown'
    : lagSeconds < 1
      ? 'as new as the primary'
      : `${Math.round(lagSeconds)} s behind`;
