import { datasetNamed } from '../datasets/catalog.ts';
import type { Scope, Target } from '../datasets/contract.ts';
import { oneSpelling } from '../datasets/spelling.ts';
import { UsageError } from '../errors.ts';
import { catalogNames } from '../feeds.ts';
import { INSTANT_EXAMPLE, instantIn } from '../instant.ts';
import type { ActiveFeed } from '../recording/feed.ts';

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

/**
 * The targets of a feed that have every KEY=VALUE given; where none has them and the source takes questions on demand,
 * the target that the pairs describe.
 * @throws UsageError when a pair is malformed, or nothing matches
 */
export function matchingTargets(feed: ActiveFeed, scope: Scope, texts: readonly string[]): readonly Target[] {
  const wanted = texts.map(pairOf);
  const targets = feed.targets.filter((target) => wanted.every(([key, value]) => target[key] === value));
  if (targets.length > 0) return targets;
  if (feed.source.demand && wanted.length > 0) return [feed.source.demand(Object.fromEntries(wanted), scope)];
  const keys = Object.keys(feed.targets[0] ?? {});
  if (keys.length > 0)
    throw new UsageError([
      `--target ${texts.join(' ')}: no target matches; targets have the keys ${keys.join(', ')}`,
    ]);
  throw new UsageError([
    feed.source.demand
      ? `--target: ${feed.source.name} is asked on demand only; say what for`
      : `watch: nothing in it gives ${feed.source.name} a target; add what it should be asked for`,
  ]);
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError([`--target ${text}: must be KEY=VALUE`]);
  return [text.slice(0, at), oneSpelling(text.slice(at + 1))];
}

/** A time from the command line, in ms since 1970; without a zone it is UTC. @throws UsageError otherwise */
export function instantOf(option: string, text: string): number {
  const instant = instantIn(text);
  if (instant === null)
    throw new UsageError([`${option} ${text}: must be a time such as ${INSTANT_EXAMPLE}`]);
  return instant;
}
