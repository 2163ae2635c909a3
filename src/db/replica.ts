import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { databasePlace, placeText } from '../config/database-url.ts';
import { messageOf } from '../lib/errors.ts';
import { CONNECTION } from './client.ts';
import { connectPool } from './connect.ts';
import { isAway } from './connection-error.ts';
import { diagnosed, isRefusal } from './database-causes.ts';
import { isPoolers, NAME_ITSELF, POOLER } from './detect-pooler.ts';
import { ReplicaAway } from './replica-unavailable.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** How long a replica may take to say how far it is, ms. */
const PATIENCE = 5_000;

/** How sessions on a replica are set up. */
const SETTINGS = sessionSettings('report');
const AS_POOLER = `${POOLER}: ${NAME_ITSELF('REPORTING_DATABASE_URL')}`;

/** How a replica was found. */
export interface FoundReplica {
  /** How far it is behind the primary, in seconds and in bytes of WAL; null: that cannot be told. */
  readonly lagSeconds: number | null;
  readonly lagBytes: number | null;
  /** Why it is not read from, or should not be; null: nothing is wrong with it. */
  readonly trouble: string | null;
  /** It answers, and refuses this user, or has no copy of the primary: what is read there would be wrong. Waiting mends neither. */
  readonly strange: boolean;
}

/** Where a server stands. */
interface Standing {
  readonly system: string;
  readonly timeline: number;
  readonly standby: boolean;
  /** The position in the WAL: of a standby the one that is replayed. */
  readonly lsn: string;
  readonly at: number;
  /** The session's limit of time, ms. */
  readonly timeout: string;
  /** When what a standby replayed last was committed, s since 1970; null: it is no standby, or replayed nothing since its start. */
  readonly replayed_at: number | null;
}

const STANDING = `
  select (select system_identifier::text from pg_control_system()) as system, pg_is_in_recovery() as standby,
    case when pg_is_in_recovery()
      then coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()))
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
    (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as lsn,
    extract(epoch from clock_timestamp())::float8 as at,
    (select setting from pg_settings where name = 'statement_timeout') as timeout,
    extract(epoch from pg_last_xact_replay_timestamp())::float8 as replayed_at`;

/** Of which server a statement asks where it stands. */
async function standingOf(sql: postgres.Sql): Promise<Standing> {
  const [row] = await sql.unsafe<Standing[]>(STANDING);
  if (!row) throw new Error('no row of a statement without a table');
  return row;
}

/**
 * Looks how far a replica is behind its primary. What is behind is told in seconds by the commit that was replayed last: a
 * recorder commits every few seconds, so it is exact to about five.
 * @param replica a client with the settings of {@link Replica}
 * @param url of the replica
 * @throws what the primary says, when it gives no answer
 */
async function lookAtReplica(
  primary: postgres.Sql,
  replica: postgres.Sql,
  url: string,
): Promise<FoundReplica> {
  const there = await standingOf(primary);
  const over = new AbortController();
  const late = delay(PATIENCE, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no answer within ${PATIENCE / 1000} s`);
  });
  late.catch(() => {});
  try {
    const here = await Promise.race([standingOf(replica), late]);
    const strange = here.timeout === SETTINGS.statement_timeout ? strangeness(here, there) : AS_POOLER;
    if (strange !== null) return { lagSeconds: null, lagBytes: null, trouble: strange, strange: true };
    const lagBytes = here.standby ? Math.max(0, position(there.lsn) - position(here.lsn)) : 0;
    const behind = here.replayed_at === null ? null : Math.max(0, there.at - here.replayed_at);
    return { lagSeconds: lagBytes === 0 ? 0 : behind, lagBytes, trouble: null, strange: false };
  } catch (error) {
    if (isPoolers(error)) return { lagSeconds: null, lagBytes: null, trouble: AS_POOLER, strange: true };
    if (isRefusal(error)) {
      const { found, mend } = diagnosed(error, url, 'REPORTING_DATABASE_URL');
      return { lagSeconds: null, lagBytes: null, trouble: `${found}: ${mend}`, strange: true };
    }
    const trouble = `it gives no answer (${messageOf(error)}): what reads from it fails until it is back; to read the primary meanwhile, unset REPORTING_DATABASE_URL and start anew`;
    return { lagSeconds: null, lagBytes: null, trouble, strange: false };
  } finally {
    over.abort();
  }
}

/** Why what one server has is no copy of what the other has; null: it is one, or both are the same server. */
function strangeness(here: Standing, there: Standing): string | null {
  if (here.system !== there.system)
    return 'it holds another PostgreSQL system than DATABASE_URL, and not a copy of it: name a streaming standby of that server';
  if (!here.standby && here.timeline !== there.timeline)
    return 'it was promoted and no longer follows the server in DATABASE_URL: make it a standby of that server again (pg_rewind), or name another one';
  return null;
}

/** A position in the WAL, such as `16/B374D848`, as bytes. */
function position(lsn: string): number {
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

/** From so many seconds on a replica is told as being behind. */
export const FAR_BEHIND = 60;

/** PostgreSQL cancelled what kept a standby from replaying. */
const CONFLICT = '40001';

/** A replica that is read in place of the primary. It never stands in for it, nor the primary for the replica: the load would move. */
export class Replica {
  readonly url: string;
  /** Host, port and database: no user, no password. */
  readonly place: string;
  /** For what is read in single statements. */
  readonly sql: postgres.Sql;
  #found: FoundReplica | null = null;

  /** Connections are made when they are needed. @param url of one server */
  constructor(url: string) {
    const { places, database } = databasePlace(url);
    this.url = url;
    this.place = `${placeText(places[0])}/${database}`;
    this.sql = connectPool(url, silenceOf('report'), {
      ...CONNECTION,
      max: 2,
      connection: SETTINGS,
    });
  }

  /** How it was found last; null: nobody looked yet. */
  get found(): FoundReplica | null {
    return this.#found;
  }

  /** Looks how far it is behind. @throws what the primary says, when it gives no answer */
  async look(primary: postgres.Sql): Promise<FoundReplica> {
    this.#found = await lookAtReplica(primary, this.sql, this.url);
    return this.#found;
  }

  /** @throws ReplicaAway where it is known to hold something else than the primary */
  hold(): void {
    if (this.#found?.strange) throw new ReplicaAway(this.#found.trouble ?? '');
  }

  /** An error of what was read from it, in its own words where it is about the replica. */
  explained(error: unknown): unknown {
    const why = messageOf(error);
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === CONFLICT)
      return new ReplicaAway(
        `${why}: what was read kept it from following the primary: ask again, or set hot_standby_feedback = on there, or a longer max_standby_streaming_delay`,
        { cause: error },
      );
    const silent = error instanceof Error && error.name === 'TimeoutError';
    return isAway(error) || silent ? new ReplicaAway(`it gives no answer (${why})`, { cause: error }) : error;
  }

  async close(): Promise<void> {
    await this.sql.end({ timeout: 5 });
  }
}

/** Notes how a replica was found, for all who read how the recording stands. What nobody looks at any more is forgotten after a day. */
export async function noteReplica(
  sql: postgres.Sql,
  recorder: string,
  place: string,
  { lagSeconds, lagBytes, trouble }: FoundReplica,
): Promise<void> {
  const far = (lagSeconds ?? 0) > FAR_BEHIND;
  await sql`
    with forgotten as (
      delete from recorder.replicas
      where recorder = ${recorder} and place <> ${place} and now() - seen_at > interval '1 day'
    )
    insert into recorder.replicas as r (recorder, place, lag_seconds, lag_bytes, trouble, trouble_since, behind_since, seen_at)
    select ${recorder}, ${place}, ${lagSeconds}::float8, ${lagBytes}::int8, ${trouble}::text,
      case when ${trouble}::text is not null then now() end, case when ${far}::boolean then now() end, now()
    on conflict (recorder, place) do update set lag_seconds = excluded.lag_seconds, lag_bytes = excluded.lag_bytes,
      trouble = excluded.trouble, seen_at = excluded.seen_at,
      trouble_since = case when excluded.trouble is not null then coalesce(r.trouble_since, excluded.seen_at) end,
      behind_since = case when excluded.behind_since is not null then coalesce(r.behind_since, excluded.seen_at) end`;
}

/** How far a replica is behind, in words. */
export const lagText = ({ lagSeconds }: Pick<FoundReplica, 'lagSeconds'>): string =>
  lagSeconds === null
    ? 'how far it is behind cannot be told'
    : lagSeconds < 1
      ? 'as new as the primary'
      : `${Math.round(lagSeconds)} s behind`;
