import type { Feed } from '../datasets/catalog.ts';
import type { Target } from '../datasets/contract.ts';

/** A feed as the configuration wants it: what of it is recorded, about what, and how often. */
export interface ActiveFeed extends Feed {
  readonly targets: readonly Target[];
  /** Milliseconds between two polls of a target. */
  readonly every: number;
  /** Fewer items a page than the service would give; undefined: as many as it gives. */
  readonly pageSize?: number | undefined;
  /** Where the recording is expected to begin, ms since 1970; null: the source's lookback before the first plan. */
  readonly since: number | null;
}
