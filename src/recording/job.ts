import type { RequestedWindow, Target, Window } from '../datasets/contract.ts';
import type { Priority } from '../upstreams/budget.ts';

/**
 * Why a run was made: `poll` by schedule; `heal` for a hole; `sweep` to see late items and revisions of what was answered;
 * `backfill` and `manual` because someone asked; `redrive` to decode again what was quarantined;
 * `unwatched` to end what nobody asks for any more.
 */
export type Reason = 'poll' | 'heal' | 'sweep' | 'backfill' | 'manual' | 'redrive' | 'unwatched';

/** Who is served first by the budget. */
export const priorityOf: Readonly<Record<Reason, Priority>> = {
  poll: 'poll',
  manual: 'poll',
  redrive: 'poll',
  unwatched: 'poll',
  heal: 'heal',
  sweep: 'heal',
  backfill: 'backfill',
};

/** What a run is about. */
export interface Job {
  readonly target: Target;
  /** Null: an observation of now. */
  readonly window: Window | null;
  /** Where the pages of an index may start, at or below the window ({@link RequestedWindow}); absent: at its start. */
  readonly reach?: number;
  readonly reason: Reason;
  /** The datasets that it records; absent: all of the feed. */
  readonly datasets?: readonly string[];
  /** When it was planned, in ms since 1970. It is dropped if the target was recorded since. Absent: it is never dropped. */
  readonly plannedAt?: number;
}
