/** Who asks: polls are served before healing, healing before backfill. */
export type Priority = 'poll' | 'heal' | 'backfill';

/** The one allowance of an upstream and key that all workers draw on. */
export interface Budget {
  /** Resolves when the call may be made. @throws UpstreamFailure (rate-limited) when that is too far away to wait */
  take(units: number, priority: Priority, signal: AbortSignal): Promise<void>;
  /** The upstream asked us to stay away for so many milliseconds: all workers do. */
  block(milliseconds: number): Promise<void>;
}
