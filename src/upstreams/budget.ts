/** Who asks: polls are served before healing, healing before backfill. */
export type Priority = 'poll' | 'heal' | 'backfill';

/** The one allowance of an upstream and key that all workers draw on. */
export interface Budget {
  /** Resolves when the call may be made. @throws UpstreamFailure (rate-limited) when that is too far away to wait */
  take(units: number, priority: Priority, signal: AbortSignal): Promise<void>;
  /** The upstream asked us to stay away for so many milliseconds: all workers do. */
  block(milliseconds: number): Promise<void>;
  /** The upstream said what it allows in its answers' headers: less than declared holds until it says otherwise, or nothing for a while. */
  learn(allowance: Allowance): Promise<void>;
}

/** What the `ratelimit-*` headers of an answer say (reality.md 3b). */
export interface Allowance {
  /** Units in a window of so many seconds. */
  readonly limit: { readonly units: number; readonly seconds: number } | null;
  /** Milliseconds until the window begins anew, where nothing is left of it; null: something is. */
  readonly exhaustedFor: number | null;
}
