import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import {
  formatServerAddress,
  type ParsedDatabaseUrl,
  parseDatabaseUrl,
  type ServerAddress,
} from '../config/database-url.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { openDriver } from './open-driver.ts';
import { sessionSettings } from './session.ts';
import type { Encryption } from './tls.ts';

/** Timeout of a server's answer, in ms. A server that exceeds it is skipped. */
const ANSWER_TIMEOUT_MS = 3_000;
/**
 * Pause before the error that no server accepts writes, in ms. The pause is needed because callers retry at
 * once.
 */
const RETRY_DELAY_MS = 1_000;

/** The position of a server that accepts writes. Each promotion starts a new timeline. */
interface PrimaryPosition {
  readonly system: string;
  readonly timeline: number;
}

/** The response of a server: its position, or the reason why it does not accept writes. */
type ServerAnswer =
  | { readonly place: ServerAddress; readonly position: PrimaryPosition }
  | { readonly place: ServerAddress; readonly position: null; readonly error: unknown };

/** Temporary error if no server accepts writes at this moment, as during a failover. */
class NoPrimaryError extends Error {
  readonly code = 'NO_PRIMARY';
}

/**
 * The servers in a database URL, one of which accepts writes. If there are several servers, all are queried
 * before every connection, and standbys are never used. If two servers accept writes, only the server that
 * was promoted last is used, and connections to the other server are closed.
 */
export class Servers {
  /** The settings of the URL, common to all servers. */
  readonly settings: ParsedDatabaseUrl;
  /**
   * Encryption of connections, as options of both drivers. Without these options, each driver would read the
   * environment.
   */
  readonly tls: Encryption;
  #known: PrimaryPosition | null = null;
  #primaryQuery: Promise<ServerAddress> | null = null;
  #at: ServerAddress | null = null;
  readonly #open = new Set<Socket>();

  constructor(url: string) {
    this.settings = parseDatabaseUrl(url);
    const { sslMode, direct } = this.settings;
    this.tls = {
      ssl: sslMode === 'disable' ? false : { rejectUnauthorized: sslMode === 'verify-full' },
      sslnegotiation: direct ? 'direct' : 'postgres',
    };
  }

  /**
   * Returns the server that accepts writes; a single server without a check.
   * @throws Error with the reason for each server if no server accepts writes
   */
  async primary(): Promise<ServerAddress> {
    const [only, ...others] = this.settings.places;
    if (others.length === 0) return only;
    this.#primaryQuery ??= this.#choose().finally(() => {
      this.#primaryQuery = null;
    });
    return this.#primaryQuery;
  }

  /**
   * Registers a connection to the primary. The connection is closed when another server becomes the primary.
   */
  hold(socket: Socket): void {
    if (this.settings.places.length === 1) return;
    for (const one of this.#open) if (one.destroyed) this.#open.delete(one);
    this.#open.add(socket);
  }

  async #choose(): Promise<ServerAddress> {
    const answers = await Promise.all(this.settings.places.map((place) => this.#queryServer(place)));
    const ofKnown = ({ system }: PrimaryPosition) => (system === this.#known?.system ? 1 : 0);
    const [best] = answers
      .filter((answer) => answer.position !== null)
      .sort(({ position: a }, { position: b }) => ofKnown(b) - ofKnown(a) || b.timeline - a.timeline);
    if (best) {
      this.#known = best.position;
      this.#moveTo(best.place);
      return best.place;
    }
    await delay(RETRY_DELAY_MS);
    throw selectError(answers);
  }

  async #queryServer(place: ServerAddress): Promise<ServerAnswer> {
    const thisOne = { primary: async () => place, hold: () => {} };
    const client = openDriver(this, ANSWER_TIMEOUT_MS, thisOne, {
      max: 1,
      connect_timeout: ANSWER_TIMEOUT_MS / 1000,
      onnotice: () => {},
      connection: sessionSettings('reader'),
    });
    try {
      const position = await withAnswerTimeout(ANSWER_TIMEOUT_MS, queryPosition(client));
      if (!position) throw new NoPrimaryError('is a standby');
      const known = this.#known;
      if (known && position.system === known.system && position.timeline < known.timeline)
        throw new NoPrimaryError('is outdated: another server was promoted');
      return { place, position };
    } catch (error) {
      return { place, position: null, error };
    } finally {
      void client.end({ timeout: 0 });
    }
  }

  #moveTo(place: ServerAddress): void {
    const was = this.#at;
    this.#at = place;
    if (!was || (was.host === place.host && was.port === place.port)) return;
    for (const socket of this.#open) socket.destroy();
    this.#open.clear();
  }
}

const byUrl = new Map<string, Servers>();

/** Returns the servers of a database URL: one object per URL, shared by all connections of the process. */
export function serversOf(url: string): Servers {
  const servers = byUrl.get(url) ?? new Servers(url);
  byUrl.set(url, servers);
  return servers;
}

/** Returns the position of a server, or null for a standby. */
async function queryPosition(sql: postgres.Sql): Promise<PrimaryPosition | null> {
  const [row] = await sql<{ system: string; timeline: number | null }[]>`
    select (select system_identifier::text from pg_control_system()) as system,
      case when not pg_is_in_recovery()
        then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;
  return row && row.timeline !== null ? { system: row.system, timeline: row.timeline } : null;
}

async function withAnswerTimeout<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new NoPrimaryError(`does not respond within ${milliseconds} ms`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    over.abort();
    late.catch(() => {});
  }
}

/**
 * Returns the error to report for all servers. A refusal, such as a wrong password, takes precedence over
 * temporary errors.
 */
function selectError(answers: readonly ServerAnswer[]): unknown {
  const errors = answers.flatMap((answer) => (answer.position ? [] : [answer]));
  const refusal = errors.find(({ error }) => !isDatabaseUnavailable(error));
  if (refusal) return refusal.error;
  const each = errors.map(({ place, error }) => `${formatServerAddress(place)}: ${toErrorMessage(error)}`);
  return new NoPrimaryError(`none of the servers accepts writes (${each.join('; ')})`);
}
