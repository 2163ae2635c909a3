/** Priority of a call: polls before healing, healing before backfill. */
export type Priority = 'poll' | 'heal' | 'backfill';

/** The request budget of an upstream and key, which all workers share. */
export interface Budget {
  /**
   * Resolves when the call may be made.
   * @throws UpstreamFailure (rate-limited) if the wait would be too long
   */
  take(units: number, priority: Priority, signal: AbortSignal): Promise<void>;
  /**
   * Blocks the calls of all workers for a period.
   * @param reason text of the upstream, such as `retry-after: 30`
   */
  block(milliseconds: number, reason: string): Promise<void>;
  /**
   * Applies the limits in the headers of a response. A limit below the configured one is in force until other
   * headers arrive or the limit expires.
   */
  learn(allowance: AnnouncedLimit): Promise<void>;
}

/** Content of the `ratelimit-*` headers of a response (upstream-services.md#rate-limits). */
export interface AnnouncedLimit {
  /** Number of units per window, and the length of the window in seconds. Null: no limit is announced. */
  readonly limit: { readonly units: number; readonly seconds: number } | null;
  /** Pause until the next window, if the current one has no units left. Null: units are left. */
  readonly exhausted: RequestedPause | null;
}

/** A pause that a header of a response requests. */
export interface RequestedPause {
  readonly milliseconds: number;
  /** The header as received, such as `retry-after: 30`. */
  readonly header: string;
}

/** Unlimited budget for own nodes. */
export const unmetered: Budget = {
  take: async () => {},
  block: async () => {},
  learn: async () => {},
};
