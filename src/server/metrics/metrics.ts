import { collectDefaultMetrics, Registry } from 'prom-client';
import { toErrorMessage } from '../../lib/errors.ts';
import { memoizeWithTtl, proportionalTtl } from '../memoize-with-ttl.ts';
import { nodeMetrics } from './nodes.ts';
import {
  changeSinkMetrics,
  diskMetrics,
  exportMetrics,
  replicaMetrics,
  sealingMetrics,
  workMetrics,
} from './operation-metrics.ts';
import { processMetrics } from './process.ts';
import {
  budgetMetrics,
  datasetMetrics,
  ledgerMetrics,
  missingDataMetrics,
  recordingMetrics,
} from './recorder-metrics.ts';
import { responseTimeMetrics } from './response-times.ts';
import { exposition, gauge, type MetricPart, type MetricSources } from './samples.ts';

const reachable = gauge('chain_recorder_database_reachable', '0 while the database is unavailable.');
const partRead = gauge(
  'chain_recorder_scrape_collector_success',
  '0 if the metrics of the collector could not be read: they have no sample.',
  'collector',
);

/** All parts, in the order of the documentation. */
export const metricParts: readonly MetricPart[] = [
  nodeMetrics,
  responseTimeMetrics,
  ledgerMetrics,
  recordingMetrics,
  datasetMetrics,
  missingDataMetrics,
  budgetMetrics,
  workMetrics,
  sealingMetrics,
  exportMetrics,
  changeSinkMetrics,
  replicaMetrics,
  diskMetrics,
  processMetrics,
];

export const scrapeFamilies = [reachable, partRead];

const DEFAULT_TTL_MS = 1_000;

/** Content type of Prometheus' text format. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

let ownMetrics: Registry | undefined;

/**
 * Returns memory, CPU and event loop metrics of this process. Collection starts once per process, at the
 * first scrape.
 */
function processRegistry(): Registry {
  if (ownMetrics === undefined) {
    ownMetrics = new Registry();
    collectDefaultMetrics({ register: ownMetrics });
  }
  return ownMetrics;
}

/** The response of `/metrics`. */
export interface Metrics {
  read(): Promise<string>;
}

/**
 * Creates the metrics of the recording, which are equal in every process, and the metrics of this process. If
 * a part cannot be read, the other parts are still exposed, and the reason is logged.
 * @param within adds a timeout to a read
 * @param parts Default: all parts
 */
export function metricsOf(
  sources: MetricSources,
  within: <T>(answer: Promise<T>) => Promise<T>,
  log: { warn(fields: object, message: string): void },
  parts: readonly MetricPart[] = metricParts,
): Metrics {
  const readers = parts.map(({ name, ttlMs = DEFAULT_TTL_MS, reader }) => {
    const read = reader(sources);
    // The query of a long list may exceed the timeout of a scrape. The next scrape then gets the cached
    // result.
    const memoized = memoizeWithTtl(read, proportionalTtl(ttlMs));
    return { name, read: () => within(memoized()) };
  });
  let reportedParts = '';
  return {
    read: async () => {
      const causes: Record<string, string> = {};
      const found = await Promise.all(
        readers.map(async ({ name, read }) => {
          try {
            return [...(await read()), partRead.of(1, name)];
          } catch (error) {
            causes[name] = toErrorMessage(error);
            return [partRead.of(0, name)];
          }
        }),
      );
      // Logged when the set of failing parts changes, not at every scrape.
      const failing = Object.keys(causes).sort().join();
      if (failing !== '' && failing !== reportedParts) log.warn({ causes }, 'some metrics cannot be read');
      reportedParts = failing;
      const answered = await sources.status().then(
        () => 1,
        () => 0,
      );
      const own = processRegistry();
      return `${await own.metrics()}\n${exposition([reachable.of(answered), ...found.flat()])}`;
    },
  };
}
