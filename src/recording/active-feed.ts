import type { Dataset, Recorded, Source, Target } from '../datasets/contract.ts';
import type { Confirmation } from './histories/absence.ts';

/** Configured settings of one dataset. */
export interface DatasetSettings {
  /** Interval between two polls of a target, in ms. */
  readonly every: number;
  /**
   * Start from which data is expected, in ms since 1970 or as a height. Null: the start is the first plan
   * minus the lookback of the source.
   */
  readonly since: number | null;
  /** Confirmation that is required if an observation misses more than half of the current members. */
  readonly confirmShrink: Confirmation;
}

/** Default confirmation of a list that shrank. The next observation must also miss the members. */
export const DEFAULT_SHRINK_CONFIRMATION: Confirmation = { observations: 2, minDuration: 0 };

/**
 * A source with the datasets, targets and intervals that the configuration selects. Registration, planning
 * and counts use it, independently of the process that writes the rows.
 */
export interface ConfiguredFeed<Kept extends Recorded = Recorded> {
  readonly source: Source;
  readonly datasets: readonly (Kept & DatasetSettings)[];
  readonly targets: readonly Target[];
  /** Interval between two checks for due polls, in ms: the shortest interval of the datasets. */
  readonly every: number;
  /** Number of items to request per page. Undefined: the maximum of the service. */
  readonly pageSize?: number | undefined;
}

/** A configured feed whose datasets are recorded by runs. */
export type ActiveFeed = ConfiguredFeed<Dataset>;

/**
 * Returns a source with the default settings of its datasets: the interval and the lookback of the source.
 */
export function withDefaultSettings<Kept extends Recorded>(
  { source, datasets }: Pick<ConfiguredFeed, 'source'> & { readonly datasets: readonly Kept[] },
  targets: readonly Target[],
): ConfiguredFeed<Kept> {
  const { every } = source;
  return {
    source,
    datasets: datasets.map((one) => ({
      ...one,
      every,
      since: null,
      confirmShrink: DEFAULT_SHRINK_CONFIRMATION,
    })),
    targets,
    every,
  };
}

const feedParts = new WeakMap<ActiveFeed, Map<string, ActiveFeed>>();

/**
 * Returns the feed with only some of its datasets, as one run records it. The same part is always the same
 * object, so that caches per feed also work per part.
 * @param names names of datasets; names that the feed does not have are ignored. Default: all.
 */
export function selectDatasets(feed: ActiveFeed, names: readonly string[] | undefined): ActiveFeed {
  const datasets = feed.datasets.filter(({ name }) => names?.includes(name) ?? true);
  if (datasets.length === feed.datasets.length) return feed;
  const known = feedParts.get(feed) ?? new Map<string, ActiveFeed>();
  feedParts.set(feed, known);
  const key = datasets.map(({ name }) => name).join(' ');
  const part = known.get(key) ?? { ...feed, datasets };
  known.set(key, part);
  return part;
}
