import { derive } from '../random.ts';
import { Refusal } from './answer.ts';
import type { WalkManner } from './walk-manner.ts';

/**
 * A cycle that a fault created in a chain of tokens. After `remaining` more pages, the token `home` follows
 * again.
 */
interface Loop {
  readonly home: string;
  readonly remaining: number;
}

/** The place at which a token resumes, and its walk. */
export interface Place {
  /** Path and all parameters of the token's request. */
  readonly filters: string;
  readonly cursor: string;
  /** Number of earlier pages of the walk. */
  readonly pages: number;
  readonly walk: WalkManner;
}

interface Entry extends Place {
  readonly issuedMs: number;
  loop?: Loop;
}

const MAX_ENTRIES = 50_000;

/**
 * The valid page tokens. Tokens are UUIDs in the form of version 4, are valid for the filters of their
 * request only, and expire by the simulated clock.
 */
export class PageTokens {
  readonly #seed: number;
  readonly #lifeMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(seed: number, lifeMs: number) {
    this.#seed = derive(seed, 'page tokens');
    this.#lifeMs = lifeMs;
  }

  /**
   * Returns the place of a token. Refuses with 400 if the token is unknown, expired, or was created for other
   * filters.
   */
  resume(token: string, filters: string, nowMs: number): Place {
    const entry = this.#entries.get(token);
    const isExpired = entry !== undefined && entry.pages >= (entry.walk.pages ?? Number.POSITIVE_INFINITY);
    if (entry === undefined || isExpired || nowMs - entry.issuedMs >= this.#lifeMs) {
      throw new Refusal(400, 'Invalid or expired page token');
    }
    if (entry.filters !== filters && entry.walk.tokensOfPlace !== true)
      throw new Refusal(400, ['pageToken does not belong to these query parameters']);
    return entry;
  }

  /** Creates a token for a place. `after` is the token of the previous page. */
  issue(place: Place, nowMs: number, after?: string): string {
    const loop = after === undefined ? undefined : this.#entries.get(after)?.loop;
    if (loop !== undefined && loop.remaining === 0) return loop.home;
    const { filters, cursor, walk } = place;
    const token = this.#uuid(
      walk.tokensOfPlace === true ? `${filters.split('?')[0]} ${cursor}` : `${filters} ${cursor} ${nowMs}`,
    );
    const entry: Entry = { ...place, issuedMs: nowMs };
    if (loop !== undefined) entry.loop = { home: loop.home, remaining: loop.remaining - 1 };
    this.#entries.set(token, entry);
    if (this.#entries.size > MAX_ENTRIES) this.#sweep(nowMs);
    return token;
  }

  /**
   * Applies a fault: after `length` pages, the pages from `token` on are repeated. Returns false for an
   * unknown token.
   */
  loop(token: string, length: number): boolean {
    const entry = this.#entries.get(token);
    if (entry === undefined) return false;
    entry.loop = { home: token, remaining: length - 1 };
    return true;
  }

  /** Creates another token for the place of a token, for a fault. Returns undefined for an unknown token. */
  copy(token: string, nowMs: number): string | undefined {
    const entry = this.#entries.get(token);
    if (entry === undefined) return undefined;
    const other = this.#uuid(`${token} again`);
    this.#entries.set(other, { ...entry, issuedMs: nowMs });
    return other;
  }

  #uuid(text: string): string {
    const words = [0, 1, 2, 3].map((i) =>
      derive(this.#seed + i, text)
        .toString(16)
        .padStart(8, '0'),
    );
    const hex = words.join('');
    const variant = '89ab'.charAt(hex.charCodeAt(16) & 3);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #sweep(nowMs: number): void {
    for (const [token, entry] of this.#entries) {
      if (nowMs - entry.issuedMs < this.#lifeMs && this.#entries.size <= MAX_ENTRIES) return;
      this.#entries.delete(token);
    }
  }
}
