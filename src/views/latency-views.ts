import type { Derived } from '../db/derive.ts';
import { GROWTH, HIGHEST_ERROR_TEXT, LEAST } from '../health/latency-histogram.ts';
import { WEEKS_KEPT } from '../health/latency-store.ts';
import { tableFunction, view } from './commented.ts';

const day = (at: string) => `date_trunc('day', (${at}) at time zone 'UTC') at time zone 'UTC'`;
/** Hours of a week from its begin to a moment. */
const hours = (at: string) => `extract(epoch from ${at} - l.starts_at) / 3600`;

const quantile = (share: number) => `min(bucket) filter (where so_far >= ceil(${share} * total))`;
const milliseconds = (bucket: string) =>
  `round((${LEAST} * 2 * power(${GROWTH}::float8, ${bucket}) / ${GROWTH + 1})::numeric, 3)`;

export const latencyViews: readonly Derived[] = [
  view(
    'node_latency_spans',
    'Response times as they are stored: packed histograms of weeks by hour, and of months by day. reporting.node_latency reads them.',
    'select l.observer, l.node, l.probe, l.span, l.starts_at, l.entries from recorder.health_latency l',
    {
      observer: 'The recorder that looked.',
      node: 'The configured node.',
      probe: 'The probe.',
      span: `week (from Thursday; kept for ${WEEKS_KEPT} weeks) or month.`,
      starts_at: 'When it began (UTC).',
      entries: 'Slot, bucket, count high, count low: four planes of one byte each.',
    },
  ),
  tableFunction(
    'node_latency',
    `Response times of each probe in a window, in ms, on a connection of its own each: quantiles that differ from the exact ones by at most ${HIGHEST_ERROR_TEXT}. Counted are the hours that lie in the window, and of time more than ${WEEKS_KEPT} weeks ago the days.`,
    ['"from" timestamptz', '"to" timestamptz'],
    {
      observer: 'text',
      node: 'text',
      probe: 'text',
      probes: 'bigint',
      p50: 'numeric',
      p95: 'numeric',
      p99: 'numeric',
    },
    `with whole_days as (
      select ${day(`"from" + interval '1 day' - interval '1 microsecond'`)} as first, ${day('"to"')} as beyond),
    spans as (
      -- The days of each month and the hours of each week that count: slots from low to high, without those from skip on.
      select l.observer, l.node, l.probe, l.entries,
        ceil(extract(epoch from w.first - l.starts_at) / 86400) + 1 as low, floor(extract(epoch from w.beyond - l.starts_at) / 86400) as high,
        null::numeric as skip, null::numeric as unto
      from whole_days w join reporting.node_latency_spans l
        on l.span = 'month' and l.starts_at > w.first - interval '1 month' and l.starts_at < w.beyond
      union all
      select l.observer, l.node, l.probe, l.entries, ceil(${hours('"from"')}), floor(${hours('"to"')}) - 1,
        case when w.first < w.beyond then ${hours('w.first')} end, ${hours('w.beyond')} - 1
      from whole_days w join reporting.node_latency_spans l
        on l.span = 'week' and l.starts_at > "from" - interval '7 days' and l.starts_at < "to"
      union all
      select p.observer, p.node, p.probe, p.entries, 0, 0, null, null
      from reporting.node_probes p where p.hour >= "from" and p.hour < "to"),
    plain as materialized (
      -- Unpacked once: each look at a byte would unpack it anew.
      select observer, node, probe, entries || ''::bytea as bytes, length(entries) / 4 as n, low::int, high::int, skip::int, unto::int
      from spans where low <= high and not coalesce(skip <= low and high <= unto, false)),
    counted as (
      select p.observer, p.node, p.probe, u.bucket, u.count
      from plain p cross join lateral (
        select get_byte(p.bytes, p.n + at) as bucket,
          sum(get_byte(p.bytes, 2 * p.n + at) * 256 + get_byte(p.bytes, 3 * p.n + at)) as count
        from generate_series(0, p.n - 1) as at
        where get_byte(p.bytes, at) between p.low and p.high
          and (p.skip is null or get_byte(p.bytes, at) not between p.skip and p.unto)
        group by 1) u),
    ranked as (
      select observer, node, probe, bucket, sum(count) over (partition by observer, node, probe order by bucket) as so_far,
        sum(count) over (partition by observer, node, probe) as total
      from (select observer, node, probe, bucket, sum(count) as count from counted group by 1, 2, 3, 4) by_bucket),
    found as (
      select observer, node, probe, max(total)::bigint as probes, ${quantile(0.5)} as q50, ${quantile(0.95)} as q95,
        ${quantile(0.99)} as q99
      from ranked group by 1, 2, 3)
    select observer, node, probe, probes, ${milliseconds('q50')}, ${milliseconds('q95')}, ${milliseconds('q99')} from found`,
  ),
];
