import { decodeSlots } from '../../health/latency-entries.ts';
import { bucketEndMs, type Histogram, representativeMs } from '../../health/latency-histogram.ts';
import { type Buckets, histogram, type MetricPart } from './samples.ts';
import { probeLimitNote, refuseTooManyProbes, watchedProbes } from './watched-probes.ts';

/**
 * Indexes of the ledger's buckets whose ends are also ends of exposed buckets. The end of each exposed bucket
 * is about twice the end of the previous bucket.
 */
const BUCKET_INDEXES = Array.from({ length: 16 }, (_, at) => 21 + 7 * at);

const responseTime = histogram(
  'chain_recorder_node_response_time_seconds',
  'Response time of probes. Starts at zero each month (UTC); the sum is exact to 5 %.',
  'observer',
  'node',
  'probe',
);

interface StoredLatency {
  readonly observer: string;
  readonly node: string;
  readonly probe: string;
  /** Packed response times of the current month except the current hour; null if there are none. */
  readonly month: Buffer | null;
  /** Packed response times of the current hour; null if there are none in this month. */
  readonly hour: Buffer | null;
}

/**
 * Merges the buckets of the ledger's histograms.
 * @param previous the previously exposed values. No count decreases below these, even while the current hour
 * is merged into the month
 */
export function bucketsOf(histograms: readonly Histogram[], previous: Buckets | undefined): Buckets {
  let [count, sum] = [0, 0];
  const within = BUCKET_INDEXES.map(() => 0);
  for (const one of histograms)
    for (const [bucket, probes] of one) {
      count += probes;
      sum += (probes * representativeMs(bucket)) / 1000;
      BUCKET_INDEXES.forEach((end, at) => {
        if (bucket <= end) within[at] = (within[at] ?? 0) + probes;
      });
    }
  return {
    upTo: BUCKET_INDEXES.map((end, at) => [
      Number((bucketEndMs(end) / 1000).toPrecision(3)),
      Math.max(within[at] ?? 0, previous?.upTo[at]?.[1] ?? 0),
    ]),
    count: Math.max(count, previous?.count ?? 0),
    sum: Math.max(sum, previous?.sum ?? 0),
  };
}

export const responseTimeMetrics: MetricPart = {
  name: 'response_times',
  about:
    'Response times of the nodes, from the histograms of the ledger: the same from every process. A classic histogram, because ' +
    'prom-client has no native ones and the text format cannot carry them: each bucket ends at an end of a finer bucket of the ledger, so ' +
    'that its count is exact. The counter starts at zero each month, which `rate` and `increase` ' +
    `treat as any restart. ${probeLimitNote}`,
  families: [responseTime],
  reader: ({ sql }) => {
    let exposed = new Map<string, Buckets>();
    let month = '';
    return async () => {
      await refuseTooManyProbes(sql);
      const rows = await sql<(StoredLatency & { current: string })[]>`
        with watched as (${watchedProbes(sql)}),
        present as (select date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' as month)
        select w.observer, w.node, w.probe, s.entries as month, case when p.hour >= present.month then p.entries end as hour,
          to_char(present.month at time zone 'UTC', 'YYYY-MM') as current
        from watched w
        cross join present
        left join reporting_internal.node_latency_spans s on (s.observer, s.node, s.probe) = (w.observer, w.node, w.probe)
          and s.span = 'month' and s.starts_at = present.month
        left join reporting_internal.node_probes p on (p.observer, p.node, p.probe) = (w.observer, w.node, w.probe)
        order by 1, 2, 3`;
      const current = rows[0]?.current ?? month;
      if (current !== month) exposed = new Map();
      month = current;
      return rows.flatMap(({ observer, node, probe, month: days, hour }) => {
        const histograms = [days, hour].flatMap((packed) =>
          packed === null ? [] : [...decodeSlots(packed).values()],
        );
        const key = JSON.stringify([observer, node, probe]);
        const previous = exposed.get(key);
        if (histograms.length === 0 && previous === undefined) return [];
        const buckets = bucketsOf(histograms, previous);
        exposed.set(key, buckets);
        return [responseTime.of(buckets, observer, node, probe)];
      });
    };
  },
};
