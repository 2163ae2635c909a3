import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { type DatabasePlace, databasePlace, type Place, placeText } from '../config/database-url.ts';
import { messageOf } from '../lib/errors.ts';
import { isAway } from './connection-error.ts';
import { openDriver } from './open-driver.ts';
import { sessionSettings } from './session.ts';
import type { Encryption } from './tls.ts';

/** Timeout of a server's answer, in ms. A server that exceeds it is skipped. */
const PATIENCE = 3_000;
/**
 * Pause before the error that no server accepts writes, in ms. It is needed because callers retry at once.
 */
const PAUSE = 1_000;

/** The position of a server that accepts writes. Each promotion starts a new timeline. */
interface Standing {
  readonly system: string;
  readonly timeline: number;
}

/** The answer of a server: its position, or the reason why it does not accept writes. */
type Answer =
  | { readonly place: Place; readonly standing: Standing }
  | { readonly place: Place; readonly standing: null; readonly error: unknown };

/** None of the servers accepts writes at this moment; one may soon. */
class NoPrimaryError extends Error {
  readonly code = 'NO_PRIMARY';
}

/**
 * The servers in a database URL, one of which accepts writes. If there are several, all are queried before
 * every connection, and standbys are never used. If two accept writes, the one that was promoted last wins.
 * This process never uses the other one again, and closes the connections to it.
 */
export class Servers {
  /** The settings of the URL, common to all servers. */
  readonly said: DatabasePlace;
  /**
   * Encryption of connections, as options of both drivers. Without it each driver would read the environment.
   */
  readonly tls: Encryption;
  #known: Standing | null = null;
  #asked: Promise<Place> | null = null;
  #at: Place | null = null;
  readonly #open = new Set<Socket>();

  constructor(url: string) {
    this.said = databasePlace(url);
    const { sslMode, direct } = this.said;
    this.tls = {
      ssl: sslMode === 'disable' ? false : { rejectUnauthorized: sslMode === 'verify-full' },
      sslnegotiation: direct ? 'direct' : 'postgres',
    };
  }

  /**
   * Returns the server that accepts writes; a single server without a check.
   * @throws Error with the reason for each server if none does
   */
  async primary(): Promise<Place> {
    const [only, ...others] = this.said.places;
    if (others.length === 0) return only;
    this.#asked ??= this.#choose().finally(() => {
      this.#asked = null;
    });
    return this.#asked;
  }

  /** Registers a connection to the primary. It is closed when another server becomes the primary. */
  hold(socket: Socket): void {
    if (this.said.places.length === 1) return;
    for (const one of this.#open) if (one.destroyed) this.#open.delete(one);
    this.#open.add(socket);
  }

  async #choose(): Promise<Place> {
    const answers = await Promise.all(this.said.places.map((place) => this.#ask(place)));
    const ofKnown = ({ system }: Standing) => (system === this.#known?.system ? 1 : 0);
    const [best] = answers
      .filter((answer) => answer.standing !== null)
      .sort(({ standing: a }, { standing: b }) => ofKnown(b) - ofKnown(a) || b.timeline - a.timeline);
    if (best) {
      this.#known = best.standing;
      this.#moveTo(best.place);
      return best.place;
    }
    await delay(PAUSE);
    throw reasonOf(answers);
  }

  async #ask(place: Place): Promise<Answer> {
    const thisOne = { primary: async () => place, hold: () => {} };
    const client = openDriver(this, PATIENCE, thisOne, {
      max: 1,
      connect_timeout: PATIENCE / 1000,
      onnotice: () => {},
      connection: sessionSettings('reader'),
    });
    try {
      const standing = await answeredWithin(PATIENCE, standingOf(client));
      if (!standing) throw new NoPrimaryError('is a standby');
      const known = this.#known;
      if (known && standing.system === known.system && standing.timeline < known.timeline)
        throw new NoPrimaryError('was left behind when another server was promoted');
      return { place, standing };
    } catch (error) {
      return { place, standing: null, error };
    } finally {
      void client.end({ timeout: 0 });
    }
  }

  #moveTo(place: Place): void {
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
async function standingOf(sql: postgres.Sql): Promise<Standing | null> {
  const [row] = await sql<{ system: string; timeline: number | null }[]>`
    select (select system_identifier::text from pg_control_system()) as system,
      case when not pg_is_in_recovery()
        then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;
  return row && row.timeline !== null ? { system: row.system, timeline: row.timeline } : null;
}

async function answeredWithin<T>(milliseconds: number, asked: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new NoPrimaryError(`does not answer within ${milliseconds} ms`);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    over.abort();
    late.catch(() => {});
  }
}

/**
 * Returns the error to report for all servers: a refusal (such as a wrong password) takes precedence over
 * temporary errors.
 */
function reasonOf(answers: readonly Answer[]): unknown {
  const errors = answers.flatMap((answer) => (answer.standing ? [] : [answer]));
  const refusal = errors.find(({ error }) => !isAway(error));
  if (refusal) return refusal.error;
  const each = errors.map(({ place, error }) => `${placeText(place)}: ${messageOf(error)}`);
  return new NoPrimaryError(`none of the servers takes writes (${each.join('; ')})`);
}
