import type { RequestedWindow, Target, Window } from '../datasets/contract.ts';
import type { Priority } from '../upstreams/budget.ts';

/**
 * Reason of a run. `poll`: by schedule. `heal`: fills a hole. `sweep`: requests covered windows again for
 * late items and revisions. `backfill` and `manual`: requested by a user. `redrive`: decodes quarantined
 * items again. `unwatched`: ends the members of a removed target.
 */
export type Reason = 'poll' | 'heal' | 'sweep' | 'backfill' | 'manual' | 'redrive' | 'unwatched';

/** Priority of each reason in the budget. */
export const priorityOf: Readonly<Record<Reason, Priority>> = {
  poll: 'poll',
  manual: 'poll',
  redrive: 'poll',
  unwatched: 'poll',
  heal: 'heal',
  sweep: 'heal',
  backfill: 'backfill',
};

/** Specification of a run. */
export interface Job {
  readonly target: Target;
  /** Null: an observation of the current state. */
  readonly window: Window | null;
  /**
   * Lower bound of the requested pages of an index, at or below the start of the window
   * ({@link RequestedWindow}). Default: the start of the window.
   */
  readonly reach?: number;
  readonly reason: Reason;
  /** Datasets to record. Default: all datasets of the feed. */
  readonly datasets?: readonly string[];
  /**
   * Time at which the job was planned, in ms since 1970. If the run succeeds, the next poll is scheduled from
   * this time. A poll is dropped if its target was recorded after this time. Undefined: the next poll is
   * scheduled from the commit.
   */
  readonly plannedAt?: number;
  /**
   * Place among the first polls of the feed, from 0. Undefined: the target was polled before, or the job is
   * no poll.
   */
  readonly firstPoll?: number;
}
