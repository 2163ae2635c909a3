import type { Source, Target } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { decimal, object, unixSeconds } from '../fields.ts';
import { BEFORE_FIRST_CHAIN, isPointInterval } from '../point-grid.ts';
import { getList } from '../sources/answer.ts';
import { day, hour, month, week } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { timeWindowQuery, unixSecondsReader } from '../sources/time-windows.ts';

/** The metrics and their allowed intervals: all four, or only the day. */
export const metricIntervals: Readonly<Record<string, readonly string[]>> = {
  activeAddresses: ['hour', 'day', 'week', 'month'],
  activeSenders: ['hour', 'day', 'week', 'month'],
  gasUsed: ['hour', 'day', 'week', 'month'],
  txCount: ['hour', 'day', 'week', 'month'],
  cumulativeTxCount: ['day'],
  cumulativeAddresses: ['day'],
  cumulativeContracts: ['day'],
  cumulativeDeployers: ['day'],
  contracts: ['day'],
  deployers: ['day'],
  avgGps: ['day'],
  maxGps: ['day'],
  avgTps: ['day'],
  maxTps: ['day'],
  avgGasPrice: ['day'],
  maxGasPrice: ['day'],
  feesPaid: ['day'],
};

const PAGE_SIZE = 2160; // maximum number of points per call; the cost of a call does not depend on their number
const BUCKETS_MS: Readonly<Record<string, number>> = { hour, day, week, month: month + day };

/** Maximum time span of a page, in ms. A full page of weeks or months would exceed the age of all chains. */
const MAX_SPAN_MS = 6 * 365 * day;

/** Returns the time span of one full page, in ms. */
const pageSpanMs = ({ timeInterval = 'day' }: Target) =>
  Math.min((PAGE_SIZE - 2) * (BUCKETS_MS[timeInterval] ?? day), MAX_SPAN_MS);

/**
 * Chain metrics, newest first. Every poll requests the newest full page, because the cost of a call does not
 * depend on the number of points. This page has the hours of the last 90 days, and the days, weeks and months
 * of almost six years, so a poll detects all of their revisions.
 */
const source: Source = {
  name: 'metric-points',
  upstream: 'metrics',
  every: hour,
  weight: 100,
  calls: 1,
  paged: true,
  range: {
    axis: 'time',
    span: pageSpanMs,
    head: pageSpanMs,
    settle: 0,
    lookback: new Date(BEFORE_FIRST_CHAIN),
    // Each series is computed separately, and its points appear in order.
    index: {
      name: ({ chainId = '', metric = '', timeInterval = '' }) => `${chainId} ${metric} ${timeInterval}`,
      timeOf: unixSecondsReader('timestamp'),
      spanOf: ({ timeInterval = 'day' }) => BUCKETS_MS[timeInterval] ?? day,
      page: PAGE_SIZE,
    },
  },
  targets: ({ watch, options }) =>
    watch.chains.flatMap((chainId) =>
      Object.entries(metricIntervals)
        .filter(([metric]) => options.metrics?.includes(metric) ?? true)
        .flatMap(([metric, allowed]) =>
          allowed
            .filter((timeInterval) => options.intervals?.includes(timeInterval) ?? true)
            .map((timeInterval) => ({ chainId, metric, timeInterval })),
        ),
    ),
  walk: (client, { chainId, metric, timeInterval }, window) =>
    fetchPages(
      client,
      {
        path: `/v2/chains/${chainId}/metrics/${metric}`,
        query: { timeInterval, pageSize: client.pageSize(PAGE_SIZE) },
        list: 'results',
        within: timeWindowQuery,
        at: unixSecondsReader('timestamp'),
        step: 1000,
      },
      window,
    ),
};

export const metricPoints = defineDataset({
  name: 'metric_points',
  about: 'The 17 metrics of an EVM chain by hour, day, week and month, with every revision.',
  operations: ['GET /v2/chains/{chainId}/metrics/{metric}'],
  history: 'series',
  source,
  request: ['chainId', 'metric', 'timeInterval'],
  numbered: true,
  key: ['chain_id', 'metric', 'time_interval', 'bucket_start'],
  items: (body) => getList(body, 'results'),
  interval: ({ timeInterval = '' }) => (isPointInterval(timeInterval) ? timeInterval : 'day'),
  rename: { timestamp: 'bucket_start' },
  item: object({
    timestamp: unixSeconds('Start of the hour, day, week (Monday) or month of the value.'),
    value: decimal(),
  }),
  example: { value: 37738, timestamp: 1724976000 },
});

export const { table: metricPointsTable, seriesTable: metricPointsSeriesTable } = metricPoints;
