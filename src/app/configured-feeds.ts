import { ruleLimits } from '../alerts/default-rules.ts';
import type { CatalogNames, Config } from '../config/schema.ts';
import { feeds } from '../datasets/catalog.ts';
import type { Recorded, Scope, Source, Target } from '../datasets/contract.ts';
import { metricIntervals, metricPoints } from '../datasets/metrics/metric-points.ts';
import { type ActiveLedger, nodeHealth } from '../health/node-health.ts';
import {
  type ActiveFeed,
  type ConfiguredFeed,
  type DatasetSettings,
  DEFAULT_SHRINK_CONFIRMATION,
} from '../recording/active-feed.ts';
import { targetKey } from '../recording/target-key.ts';
import { recorded, recordedNamed } from '../reporting/recorded-datasets.ts';
import { shortestRetention } from '../retention/retention-rules.ts';

/** Names that are valid in a configuration. */
export const catalogNames: CatalogNames = {
  datasets: recorded.map(({ name }) => name),
  metrics: Object.keys(metricIntervals),
  intervals: ['hour', 'day', 'week', 'month'],
  alertRules: ruleLimits,
  withoutEffect,
  shortestRetention,
};

function withoutEffect(dataset: string, setting: string, value: unknown): string | null {
  const source = recordedNamed(dataset)?.source;
  if (source === undefined) return null;
  switch (setting) {
    case 'metrics':
    case 'intervals':
      return dataset === metricPoints.name ? null : `only ${metricPoints.name} has ${setting}`;
    case 'since':
      if (!source.range)
        return 'the upstream returns only the current state; past states cannot be requested';
      if (source.range.axis === 'time')
        return typeof value === 'number'
          ? 'the dataset is recorded by time: name a day such as 2025-01-31'
          : null;
      if (source.range.lookback === Number.POSITIVE_INFINITY)
        return 'the dataset is recorded by height, from the first block on';
      return typeof value === 'string' ? 'the dataset is recorded by height: name a height such as 0' : null;
    case 'pageSize':
      return source.paged ? null : 'the requests of the dataset have no page size';
    default:
      return null;
  }
}

/** Returns the feeds with at least one dataset that a configuration enables, and their targets. */
export function activeFeeds(config: Config): ActiveFeed[] {
  return feeds.flatMap(({ source, datasets }) => selectWatched(config, source, datasets));
}

/**
 * Returns the uptime ledger that a configuration enables, in a list. The list is empty if no ledger is
 * enabled.
 */
export function activeLedgers(config: Config): ActiveLedger[] {
  return selectWatched(config, nodeHealth.source, [nodeHealth]);
}

/**
 * Returns the enabled datasets of a source and their targets. Empty if no dataset is enabled, or if the
 * upstream is not configured.
 */
function selectWatched<Kept extends Recorded>(
  config: Config,
  source: Source,
  datasets: readonly Kept[],
): ConfiguredFeed<Kept>[] {
  const enabled = datasets.filter(({ name }) => config.datasets[name]?.enabled ?? true);
  if (enabled.length === 0 || !isOffered(config, source)) return [];
  const overrides = enabled.flatMap(({ name }) => config.datasets[name] ?? []);
  const active = enabled.map((dataset): Kept & DatasetSettings => {
    const { every = source.every, since, confirmShrink } = config.datasets[dataset.name] ?? {};
    return {
      ...dataset,
      every,
      since: typeof since === 'string' ? Date.parse(`${since}T00:00:00Z`) : (since ?? null),
      confirmShrink: {
        observations: confirmShrink?.observations ?? DEFAULT_SHRINK_CONFIRMATION.observations,
        minDuration: confirmShrink?.minDuration ?? DEFAULT_SHRINK_CONFIRMATION.minDuration,
      },
    };
  });
  return [
    {
      source,
      datasets: active,
      targets: distinct(source.targets(createScope(config, Object.assign({}, ...overrides)))),
      pageSize: overrides.find(({ pageSize }) => pageSize !== undefined)?.pageSize,
      every: Math.min(...active.map(({ every }) => every)),
    },
  ];
}

/** Removes duplicate targets. A list in the configuration may contain an entry twice. */
function distinct(targets: readonly Target[]): Target[] {
  return [...new Map(targets.map((target) => [targetKey(target), target])).values()];
}

function isOffered(config: Config, source: Source): boolean {
  const { chainData, metrics, nodes } = config.upstreams;
  return { chainData: chainData !== undefined, metrics: metrics !== undefined, nodes: nodes.length > 0 }[
    source.upstream
  ];
}

/**
 * Returns the part of a configuration that determines targets.
 * @param options override of the source's datasets
 */
export function createScope(config: Config, options: Scope['options'] = {}): Scope {
  return {
    network: config.network,
    observer: config.observer ?? config.name,
    shares: config.health.partitions,
    watch: config.watch,
    nodes: config.upstreams.nodes.map(({ name }) => name),
    tags: Object.fromEntries(config.upstreams.nodes.map(({ name, tags }) => [name, tags])),
    options,
  };
}
