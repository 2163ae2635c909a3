/** The metrics with every interval. */
const EVERY_INTERVAL = ['activeAddresses', 'activeSenders', 'gasUsed', 'txCount'] as const;

/** The metrics by day only. */
export const DAY_ONLY = [
  'cumulativeTxCount',
  'cumulativeAddresses',
  'cumulativeContracts',
  'cumulativeDeployers',
  'contracts',
  'deployers',
  'avgGps',
  'maxGps',
  'avgTps',
  'maxTps',
  'avgGasPrice',
  'maxGasPrice',
  'feesPaid',
] as const;

export type Metric = (typeof EVERY_INTERVAL)[number] | (typeof DAY_ONLY)[number];

export const METRICS: readonly Metric[] = [...EVERY_INTERVAL, ...DAY_ONLY];

/**
 * Returns whether a metric has only daily values: contracts, deployers, fees, and all metrics that start with
 * cumulative, avg or max.
 */
export function isDayOnly(metric: Metric): boolean {
  return DAY_ONLY.some((name) => name === metric);
}
