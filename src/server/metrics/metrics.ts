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

/** Every part, in the order of the documentation. */
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

/** Metrics about the scrape itself. */
export const scrapeFamilies = [reachable, partRead];

/** Default cache time of a part, in ms, independent of the number of scrapes. */
const DEFAULT_TTL_MS = 1_000;

/** Content type of Prometheus' text format. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

let ownMetrics: Registry | undefined;

/**
 * Returns memory, CPU and event loop metrics of this process. The metrics are collected once per process, from
 * the first scrape on.
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
 * Creates the metrics of the recording, which are equal in every process, and those of this process. A part
 * that cannot be read does not affect others, and is reported.
 * @param within adds a timeout
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
    // For a long list the query may exceed the timeout of a scrape: the next scrape gets the cached result.
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
