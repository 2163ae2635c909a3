import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { withinNetworks } from '../config/network-ranges.ts';
import { UsageError } from '../lib/errors.ts';

/** What decides who may read. */
export interface AccessOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** What a caller has to show; undefined: nothing. */
  readonly token: string | undefined;
  /** Addresses of proxies that check themselves who asks. */
  readonly proxies: readonly string[];
  /** What everybody may see. */
  readonly public: readonly ('status' | 'badge')[];
}

/** What is known of a request before it is answered. */
export interface Caller {
  readonly path: string;
  /** The address of whoever is connected, which is the proxy's where there is one. */
  readonly address: string | undefined;
  readonly authorization: string | undefined;
  /** The session cookie. */
  readonly session: string | undefined;
}

/** What becomes of a request. */
export type Admission =
  | 'allowed'
  /** It has to show the token. */
  | 'token'
  /** There is no token, and it does not come from a proxy. */
  | 'elsewhere';

/** How long a session lasts, ms. */
const SESSION = 30 * 86_400_000;

/** What containers, load balancers and the login form need, and what tells nothing of the record. */
const OPEN = /^\/(health|ready|login|logout|theme|assets\/.*)$/;
/** What may be meant for everybody, and to stand in pages of others. */
export const PUBLIC = { status: /^\/status(\/|$|\.)/, badge: /^\/badge\// } as const;

/** Who may read what. Nobody may write: the server has nothing to write with. */
export class Access {
  readonly #token: string | undefined;
  readonly #proxied: (address: string | undefined) => boolean;
  readonly #open: readonly RegExp[];
  readonly #everybody: boolean;

  /**
   * @throws UsageError when the server would listen beyond this machine and anybody could read
   */
  constructor({ host, token, proxies, public: everybodySees }: AccessOptions) {
    if (!isLoopback(host) && token === undefined && proxies.length === 0)
      throw new UsageError([
        `RECORDER_HOST: on ${host} everybody who reaches this machine could read the record: set RECORDER_TOKEN (make one with ` +
          '"openssl rand -hex 16"), or name in server.proxies the proxy in front that checks who asks, or listen on 127.0.0.1',
      ]);
    this.#token = token;
    this.#proxied = withinNetworks(proxies);
    this.#open = [OPEN, ...everybodySees.map((what) => PUBLIC[what])];
    this.#everybody = isLoopback(host) && token === undefined;
  }

  /** Whether there is a token to show, and so a form to show it in. */
  get asksForToken(): boolean {
    return this.#token !== undefined;
  }

  /** What becomes of a request. @param now ms since 1970 */
  admit({ path, address, authorization, session }: Caller, now: number): Admission {
    if (this.#everybody || this.#open.some((open) => open.test(path)) || this.#proxied(address))
      return 'allowed';
    if (this.#token === undefined) return 'elsewhere';
    const [, shown] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (shown !== undefined && this.isToken(shown)) return 'allowed';
    return session !== undefined && this.#isSession(session, now) ? 'allowed' : 'token';
  }

  /** Compares in a time that says nothing of how much is right. */
  isToken(shown: string): boolean {
    return this.#token !== undefined && sameText(shown, this.#token);
  }

  /** What the session cookie holds: until when, and a proof that the token was shown. It does not hold the token. */
  newSession(now: number): { readonly value: string; readonly seconds: number } {
    const until = String(now + SESSION);
    return { value: `${until}.${this.#proof(until)}`, seconds: SESSION / 1000 };
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
/** Whether an address to listen on is reached from this machine only. */
const isLoopback = (host: string) => host === 'localhost' || loopback(host);

function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
