import { ruleLimits } from '../alerts/default-rules.ts';
import type { CatalogNames, Config } from '../config/schema.ts';
import { feeds } from '../datasets/catalog.ts';
import type { Recorded, Scope, Source, Target } from '../datasets/contract.ts';
import { metricIntervals, metricPoints } from '../datasets/metrics/metric-points.ts';
import { type ActiveLedger, nodeHealth } from '../health/node-health.ts';
import {
  type ActiveFeed,
  CONFIRM_SHRINK,
  type DatasetSettings,
  type Watched,
} from '../recording/active-feed.ts';
import { targetKey } from '../recording/target-key.ts';
import { recorded, recordedNamed } from '../reporting/recorded-datasets.ts';
import { shortestRetention } from '../retention/retention-rules.ts';

/** The names that a configuration may use. */
export const catalogNames: CatalogNames = {
  datasets: recorded.map(({ name }) => name),
  metrics: Object.keys(metricIntervals),
  intervals: ['hour', 'day', 'week', 'month'],
  alertRules: ruleLimits,
  withoutEffect,
  shortestRetention,
};

function withoutEffect(dataset: string, setting: string): string | null {
  const source = recordedNamed(dataset)?.source;
  if (source === undefined) return null;
  switch (setting) {
    case 'metrics':
    case 'intervals':
      return dataset === metricPoints.name ? null : `only ${metricPoints.name} has ${setting}`;
    case 'since':
      if (source.range?.axis === 'time') return null;
      return source.range
        ? 'it is recorded by height, whatever the time'
        : 'it is observed as it is now; its past cannot be asked for';
    case 'pageSize':
      return source.paged ? null : 'its answers have no pages of a size that can be asked for';
    default:
      return null;
  }
}

/** What a configuration asks runs to record: feeds with at least one dataset that is enabled, and their targets. */
export function activeFeeds(config: Config): ActiveFeed[] {
  return feeds.flatMap(({ source, datasets }) => watched(config, source, datasets));
}

/** The ledger that a configuration asks the prober to keep; empty where it asks for none. */
export function activeLedgers(config: Config): ActiveLedger[] {
  return watched(config, nodeHealth.source, [nodeHealth]);
}

/** What of a source's datasets is enabled, and about which targets; empty where nothing is, or its upstream is missing. */
function watched<Kept extends Recorded>(
  config: Config,
  source: Source,
  datasets: readonly Kept[],
): Watched<Kept>[] {
  const enabled = datasets.filter(({ name }) => config.datasets[name]?.enabled ?? true);
  if (enabled.length === 0 || !offered(config, source)) return [];
  const overrides = enabled.flatMap(({ name }) => config.datasets[name] ?? []);
  const active = enabled.map((dataset): Kept & DatasetSettings => {
    const { every = source.every, since, confirmShrink } = config.datasets[dataset.name] ?? {};
    return {
      ...dataset,
      every,
      since: since === undefined ? null : Date.parse(`${since}T00:00:00Z`),
      confirmShrink: {
        observations: confirmShrink?.observations ?? CONFIRM_SHRINK.observations,
        minDuration: confirmShrink?.minDuration ?? CONFIRM_SHRINK.minDuration,
      },
    };
  });
  return [
    {
      source,
      datasets: active,
      targets: distinct(source.targets(scopeOf(config, Object.assign({}, ...overrides)))),
      pageSize: overrides.find(({ pageSize }) => pageSize !== undefined)?.pageSize,
      every: Math.min(...active.map(({ every }) => every)),
    },
  ];
}

/** Removes duplicates: a list in the configuration may contain an entry twice. */
function distinct(targets: readonly Target[]): Target[] {
  return [...new Map(targets.map((target) => [targetKey(target), target])).values()];
}

function offered(config: Config, source: Source): boolean {
  const { chainData, metrics, nodes } = config.upstreams;
  return { chainData: chainData !== undefined, metrics: metrics !== undefined, nodes: nodes.length > 0 }[
    source.upstream
  ];
}

/** What a configuration gives to the choice of targets. @param options the override of the source's datasets */
export function scopeOf(config: Config, options: Scope['options'] = {}): Scope {
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
