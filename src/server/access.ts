import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { withinNetworks } from '../config/network-ranges.ts';
import { UsageError } from '../lib/errors.ts';

export interface AccessOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** The required token; undefined if none is required. */
  readonly token: string | undefined;
  /** Networks of proxies that authenticate requests themselves. */
  readonly trustedProxies: readonly string[];
  /** Pages that everybody may read. */
  readonly public: readonly ('status' | 'badge')[];
}

/** Fields of a request that are checked by the access rules. */
export interface Caller {
  readonly path: string;
  /** Remote address of the connection; behind a proxy, the address of the proxy. */
  readonly address: string | undefined;
  readonly authorization: string | undefined;
  readonly session: string | undefined;
}

/** Result of the access rules for a request. */
export type Admission =
  | 'allowed'
  /** Rejected: the token is required. */
  | 'token'
  /** Rejected: no token is configured, and the request does not come from a trusted proxy. */
  | 'elsewhere';

const SESSION_MS = 30 * 86_400_000;

/**
 * Paths that are served without a token: liveness and readiness checks, login, logout, theme and assets.
 * Their responses contain no recorded data.
 */
const PATHS_WITHOUT_TOKEN = /^\/(health|ready|login|logout|theme|assets\/.*)$/;
/** Paths that can be public and embedded in pages of other sites. */
export const PUBLIC_PATHS = { status: /^\/status(\/|$|\.)/, badge: /^\/badge\// } as const;

/** The access rules of the server. All operations only read, so there are no rules for writing. */
export class Access {
  readonly #token: string | undefined;
  readonly #proxied: (address: string | undefined) => boolean;
  readonly #open: readonly RegExp[];
  readonly #everybody: boolean;

  /** @throws UsageError if other machines could reach the server without access control */
  constructor({ host, token, trustedProxies, public: everybodySees }: AccessOptions) {
    if (!isLoopback(host) && token === undefined && trustedProxies.length === 0)
      throw new UsageError([
        `RECORDER_HOST: on ${host} everybody who can reach this machine could read the record: set RECORDER_TOKEN (create one with ` +
          '"openssl rand -hex 16"), or add a proxy that authenticates requests to server.trustedProxies, or listen on 127.0.0.1',
      ]);
    this.#token = token;
    this.#proxied = withinNetworks(trustedProxies);
    this.#open = [PATHS_WITHOUT_TOKEN, ...everybodySees.map((what) => PUBLIC_PATHS[what])];
    this.#everybody = isLoopback(host) && token === undefined;
  }

  /** Returns whether a token is configured. If so, a login form is served. */
  get requiresToken(): boolean {
    return this.#token !== undefined;
  }

  /**
   * Returns whether a request is allowed, or the reason why the request is refused.
   * @param now ms since 1970
   */
  admit({ path, address, authorization, session }: Caller, now: number): Admission {
    if (this.#everybody || this.#open.some((open) => open.test(path)) || this.#proxied(address))
      return 'allowed';
    if (this.#token === undefined) return 'elsewhere';
    const [, presented] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (presented !== undefined && this.isToken(presented)) return 'allowed';
    return session !== undefined && this.#isSession(session, now) ? 'allowed' : 'token';
  }

  /** Compares a token in constant time. */
  isToken(presented: string): boolean {
    return this.#token !== undefined && sameText(presented, this.#token);
  }

  /**
   * Creates the value of a session cookie: the end of the session and a proof that the token was presented.
   * The cookie does not contain the token.
   * @param now ms since 1970
   */
  newSession(now: number): { readonly value: string; readonly seconds: number } {
    const until = String(now + SESSION_MS);
    return { value: `${until}.${this.#proof(until)}`, seconds: SESSION_MS / 1000 };
  }

  #isSession(session: string, now: number): boolean {
    const [until = '', proof = ''] = session.split('.');
    return /^\d{1,15}$/.test(until) && sameText(proof, this.#proof(until)) && now < Number(until);
  }

  #proof(until: string): string {
    return createHmac('sha256', this.#token ?? '')
      .update(`session until ${until}`)
      .digest('base64url');
  }
}

const loopback = withinNetworks(['127.0.0.0/8', '::1']);
/** Returns whether a listen address can only be reached from this machine. */
const isLoopback = (host: string) => host === 'localhost' || loopback(host);

function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
