import { catalogNames } from '../configured-feeds.ts';
import { datasetNamed } from '../datasets/catalog.ts';
import { UsageError } from '../errors.ts';
import { INSTANT_EXAMPLE, instantIn } from '../instant.ts';
import type { ActiveFeed } from '../recording/active-feed.ts';

/** The feed that records a dataset. @throws UsageError when there is no such dataset or the configuration leaves it out */
export function feedOf(feeds: readonly ActiveFeed[], dataset: string): ActiveFeed {
  if (!datasetNamed(dataset))
    throw new UsageError([
      `DATASET: there is no dataset "${dataset}"; there are ${catalogNames.datasets.join(', ')}`,
    ]);
  const feed = feeds.find(({ datasets }) => datasets.some(({ name }) => name === dataset));
  if (!feed)
    throw new UsageError([
      `datasets.${dataset}: the configuration does not record it: it is disabled, or its upstream is missing`,
    ]);
  return feed;
}

/** A time from the command line, in ms since 1970; without a zone it is UTC. @throws UsageError otherwise */
export function instantOf(option: string, text: string): number {
  const instant = instantIn(text);
  if (instant === null)
    throw new UsageError([`${option} ${text}: must be a time such as ${INSTANT_EXAMPLE}`]);
  return instant;
}
