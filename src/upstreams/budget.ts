/** Who asks: polls are served before healing, healing before backfill. */
export type Priority = 'poll' | 'heal' | 'backfill';

/** The one allowance of an upstream and key that all workers draw on. */
export interface Budget {
  /** Resolves when the call may be made. @throws UpstreamFailure (rate-limited) when the wait would be too long */
  take(units: number, priority: Priority, signal: AbortSignal): Promise<void>;
  /**
   * Stops the calls of all workers for a time.
   * @param reason what the upstream sent, such as `retry-after: 30`
   */
  block(milliseconds: number, reason: string): Promise<void>;
  /** Notes the limits in an answer's headers. A lower one than declared holds until other headers come, or for a while. */
  learn(allowance: Allowance): Promise<void>;
}

/** What the `ratelimit-*` headers of an answer say (reality.md 3b). */
export interface Allowance {
  /** Units in a window of so many seconds. */
  readonly limit: { readonly units: number; readonly seconds: number } | null;
  /** The pause until the next window, when nothing is left of this one; null: something is left. */
  readonly exhausted: RequestedPause | null;
}

/** A pause that a header of a response requests. */
export interface RequestedPause {
  readonly milliseconds: number;
  /** The header as the upstream sent it, such as `retry-after: 30`. */
  readonly header: string;
}
