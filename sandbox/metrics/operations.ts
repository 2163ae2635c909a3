import { type Answer, type Point, Refusal } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import { type Operation, type PathParts, part } from '../http/operation.ts';
import type { PageTokens } from '../http/page-tokens.ts';
import { type Page, readPage } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import { INTERVALS, type Interval } from './calendar.ts';
import type { Metrics, Range } from './metrics.ts';
import { isDayOnly, METRICS, type Metric } from './names.ts';
import { lastRefresh } from './refresh.ts';

const SIZES = { max: 2160, standard: 100 };
const ALL = { from: 0, to: 253_402_300_799 };

interface Found {
  readonly points: readonly Point[];
  readonly nextPageToken: string | undefined;
}

/** Returns the operations of the metrics service. */
export function metricsOperations(metrics: Metrics, tokens: PageTokens): Operation[] {
  function find(
    call: Call,
    chain: string,
    metric: Metric,
    interval: Interval,
    span: Omit<Range, 'limit'>,
    page: Page,
  ): Found {
    const after = page.after === undefined ? undefined : Number(page.after);
    const range = page.reversed
      ? { from: Math.max(span.from, (after ?? -1) + 1), to: span.to, limit: Number.POSITIVE_INFINITY }
      : { from: span.from, to: Math.min(span.to, (after ?? span.to + 1) - 1), limit: page.size + 1 };
    const newestFirst = metrics.points(chain, metric, interval, range, nowSec(call));
    const found = page.reversed ? newestFirst.toReversed() : newestFirst;
    const points = found.slice(0, page.size);
    const last = points.at(-1);
    const more = found.length > page.size && last !== undefined;
    return { points, nextPageToken: more ? page.next(String(last[0])) : undefined };
  }

  function getMetric(call: Call, parts: PathParts): Answer {
    const chain = part(parts, 'chainId');
    const query = new Query(call.query);
    const metric = METRICS.find((name) => name === parts.metric);
    if (metric === undefined)
      query.fault(`metric must be one of the following values: ${METRICS.join(', ')}`);
    const interval = query.choice('timeInterval', INTERVALS) ?? 'hour';
    const from = query.integer('startTimestamp', { min: 0 }) ?? ALL.from;
    const to = query.integer('endTimestamp', { min: 0 }) ?? ALL.to;
    const page = readPage(call, query, tokens, SIZES);
    if (metric === undefined || !metrics.has(chain)) throw new Refusal(404, `Chain ${chain} not found`);
    if (isDayOnly(metric) && interval !== 'day') {
      throw new Refusal(400, `Metric ${metric} supports only the time interval day`);
    }
    const { points, nextPageToken } = find(call, chain, metric, interval, { from, to }, page);
    const results = points.map(([timestamp, value]) => ({ value, timestamp }));
    return { status: 200, document: { results, nextPageToken }, metric: { chain, metric, interval, points } };
  }

  function getAverageTps(call: Call, parts: PathParts): Answer {
    const chain = part(parts, 'chainId');
    if (!metrics.has(chain)) throw new Refusal(404, [`Chain ${chain} not found`]);
    const page = readPage(call, new Query(call.query), tokens, { max: 100, standard: 100 });
    const { points, nextPageToken } = find(call, chain, 'avgTps', 'day', ALL, page);
    const results = points.map(([timestamp, value]) => ({ timestamp, value }));
    const lastRun = lastRefresh(nowSec(call));
    return {
      status: 200,
      document: { results, status: 200, lastRun, nextPageToken },
      metric: { chain, metric: 'avg_tps', interval: 'day', points },
    };
  }

  const shared = { service: 'metrics', units: 100, method: 'GET' } as const;
  return [
    { ...shared, name: 'getMetric', path: '/v2/chains/{chainId}/metrics/{metric}', answer: getMetric },
    { ...shared, name: 'getAverageTps', path: '/v1/avg_tps/{chainId}', answer: getAverageTps },
  ];
}
