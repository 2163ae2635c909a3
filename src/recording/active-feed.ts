import type { Dataset, Recorded, Source, Target } from '../datasets/contract.ts';
import type { Confirmation } from './histories/absence.ts';

/** What the configuration decides of a dataset. */
export interface DatasetSettings {
  /** Milliseconds between two polls of a target. */
  readonly every: number;
  /** Where the recording is expected to begin, ms since 1970; null: the source's lookback before the first plan. */
  readonly since: number | null;
  /** Confirms the absence of members if an observation misses more than half of them. */
  readonly confirmShrink: Confirmation;
}

/** The default: the next observation agrees. */
export const CONFIRM_SHRINK: Confirmation = { observations: 2, minDuration: 0 };

/**
 * A source with what is kept of its answers, as the configuration wants it: what of it is recorded, about what, and how
 * often. This is what is registered, planned and counted, whoever writes the rows.
 */
export interface Watched<Kept extends Recorded = Recorded> {
  readonly source: Source;
  readonly datasets: readonly (Kept & DatasetSettings)[];
  readonly targets: readonly Target[];
  /** Milliseconds between two looks at what is due: the shortest interval of its datasets. */
  readonly every: number;
  /** Fewer items a page than the service would give; undefined: as many as it gives. */
  readonly pageSize?: number | undefined;
}

/** A feed as the configuration wants it: runs record it. */
export type ActiveFeed = Watched<Dataset>;

/** A source with its datasets as they are declared: each at the source's interval, from where the source begins. */
export function asDeclared<Kept extends Recorded>(
  { source, datasets }: Pick<Watched, 'source'> & { readonly datasets: readonly Kept[] },
  targets: readonly Target[],
): Watched<Kept> {
  const { every } = source;
  return {
    source,
    datasets: datasets.map((one) => ({ ...one, every, since: null, confirmShrink: CONFIRM_SHRINK })),
    targets,
    every,
  };
}

const parts = new WeakMap<ActiveFeed, Map<string, ActiveFeed>>();

/**
 * The feed with only some of its datasets: what one run records of it. The same part is the same object every time, so
 * that what is made once a feed is made once a part.
 * @param names absent: all; names that the feed does not have are left out
 */
export function partOf(feed: ActiveFeed, names: readonly string[] | undefined): ActiveFeed {
  const datasets = feed.datasets.filter(({ name }) => names?.includes(name) ?? true);
  if (datasets.length === feed.datasets.length) return feed;
  const known = parts.get(feed) ?? new Map<string, ActiveFeed>();
  parts.set(feed, known);
  const key = datasets.map(({ name }) => name).join(' ');
  const part = known.get(key) ?? { ...feed, datasets };
  known.set(key, part);
  return part;
}
