import { POINT_VALUES } from '../../datasets/dataset.ts';
import { metricPoints } from '../../datasets/metrics/metric-points.ts';
import { tableRowsSql } from '../../datasets/target-columns.ts';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { discrepancySql } from './check-columns.ts';

/** SQL of all values of all points, as a union of two parts. Each part has an index. */
const EVERY_VALUE = Object.values(POINT_VALUES)
  .map((part) => `select * from ${tableRowsSql(metricPoints)} r where ${part}`)
  .join(' union all ');

/**
 * CTEs of the points of a chain that can be compared: points that the service still returns, and that were
 * requested after their settling time.
 * `requested_at` is the last time at which the service is known to return this value. `moved_at` is the time
 * at which a point changed after it should have settled, and -infinity for all other points. $1: the chain.
 * $2: a JSON list with an object for each metric and interval: `settles` (time in which values may change
 * after the end of their bucket) and `head` (range that every poll requests), both in seconds.
 */
export const POINT_CTES = [
  `series as materialized (
    select s.metric, s.time_interval, make_interval(secs => s.settles) as settles, make_interval(secs => s.head) as head,
      make_interval(hours => (s.time_interval = 'hour')::int, days => (s.time_interval = 'day')::int,
        weeks => (s.time_interval = 'week')::int, months => (s.time_interval = 'month')::int) as lasts,
      (select max(d.last_success_at) from ${tableText(targetDatasets)} d join ${tableText(targets)} t using (source, target_key)
        where d.dataset = 'metric_points'
          and t.target @> jsonb_build_object('chainId', $1::text, 'metric', s.metric, 'timeInterval', s.time_interval)) as polled_at,
      -- Times at which runs wrote points: each of these runs also requested the range that every poll requests.
      (select array_agg(requested.at order by requested.at) from (
        select max(p.valid_from) as at from (${EVERY_VALUE}) p
        where p.chain_id = $1 and p.metric = s.metric and p.time_interval = s.time_interval
        group by date_trunc('hour', p.valid_from, 'UTC')) requested) as polls
    from jsonb_to_recordset($2::text::jsonb) as s(metric text, time_interval text, settles float8, head float8))`,
  `points as materialized (
    select p.metric, p.time_interval, p.bucket_start, p.value, requested.at as requested_at,
      case when p.valid_from > settled.at and exists (
        select from recorder.metric_points o where (o.series_id, o.bucket_start) = (p.series_id, p.bucket_start) and ${POINT_VALUES.before})
        then p.valid_from else '-infinity' end as moved_at
    from ${tableRowsSql(metricPoints)} p
    join series s using (metric, time_interval)
    cross join lateral (
      select (p.bucket_start at time zone 'UTC' + s.lasts) at time zone 'UTC' + s.settles as at) settled
    cross join lateral (
      select case when p.bucket_start >= s.polled_at - s.head then s.polled_at
        else greatest(p.valid_from, s.polls[width_bucket(p.bucket_start + s.head, s.polls)]) end as at) requested
    where p.chain_id = $1 and p.valid_to is null and requested.at >= settled.at)`,
];

/**
 * Returns SQL of whether two sides agree. If the sides differ, the result is false only if each side was
 * requested after the last late change of the other side. Otherwise, the result is null.
 */
const agreed = (left: string, right: string, agrees: string) =>
  `case when ${agrees} then true
        when ${left}.moved_at <= ${right}.requested_at and ${right}.moved_at <= ${left}.requested_at then false end`;
const subject = (metric: string, interval: string) =>
  `'chain_id=' || $1 || ' metric=' || ${metric} || ' time_interval=' || ${interval}`;
const row = (check: string, metric: string, interval: string, at: string) =>
  `'${check}', 'metric_points', ${subject(metric, interval)}, ${at}`;
const valueText = (value: string) => `trim_scale(${value})::text`;
/** Returns SQL of the tolerance of a count. */
const counted = (value: string) => `greatest(0.01 * abs(${value}), 1)`;

/**
 * SQL that compares hours with their day, and days with their week and month. A count is the sum of its
 * parts. A distinct count is between its largest part and the sum of its parts.
 */
const parts = {
  ctes: [
    `parts as materialized (
      select metric, part, whole, starts, count(*) as present, min(needed) as needed, sum(value) as total, max(value) as largest,
        max(moved_at) as moved_at, min(requested_at) as requested_at
      from (
        select metric, value, moved_at, requested_at, time_interval as part, 'day' as whole,
          date_trunc('day', bucket_start, 'UTC') as starts, 24 as needed
        from points where time_interval = 'hour'
        union all
        select metric, value, moved_at, requested_at, time_interval, 'week', date_trunc('week', bucket_start, 'UTC'), 7
        from points where time_interval = 'day'
        union all
        select metric, value, moved_at, requested_at, time_interval, 'month', date_trunc('month', bucket_start, 'UTC'),
          extract(day from date_trunc('month', bucket_start at time zone 'UTC') + interval '1 month - 1 day')
        from points where time_interval = 'day') each_part
      group by metric, part, whole, starts)`,
  ],
  // If parts are missing, only a whole that is too small can be detected.
  select: `select ${row('metric_parts', 'w.metric', 'w.time_interval', 'w.bucket_start')},
      case when w.metric in ('activeAddresses', 'activeSenders') and w.value < p.largest then 'largest ' || p.part
        else 'sum of ' || p.present || ' ' || p.part || 's' end,
      ${valueText(`case when w.metric in ('activeAddresses', 'activeSenders') and w.value < p.largest then p.largest else p.total end`)},
      p.whole, ${valueText('w.value')},
      ${agreed(
        'p',
        'w',
        `case when w.metric in ('activeAddresses', 'activeSenders')
          then w.value >= p.largest - ${counted('p.largest')} and (p.present < p.needed or w.value <= p.total + ${counted('p.total')})
          else p.total - w.value <= ${counted('greatest(p.total, w.value)')}
            and (p.present < p.needed or w.value - p.total <= ${counted('greatest(p.total, w.value)')}) end`,
      )}
    from parts p join points w on w.metric = p.metric and w.time_interval = p.whole and w.bucket_start = p.starts`,
};

const before = `lag(value) over w as value_before, lag(bucket_start) over w as before, lag(moved_at) over w as moved_before,
      lag(requested_at) over w as requested_before, lead(value) over w as value_after, lead(bucket_start) over w as after`;
const days = {
  ctes: [
    `days as materialized (
      select *, ${before} from points where time_interval = 'day' window w as (partition by metric order by bucket_start))`,
  ],
};

const falls = `select ${row('metric_falls', 'd.metric', 'd.time_interval', 'd.bucket_start')},
      'day before: ' || to_char(d.before at time zone 'UTC', 'YYYY-MM-DD'), ${valueText('d.value_before')}, 'day', ${valueText('d.value')},
      case when d.value >= d.value_before then true
        when d.moved_at <= d.requested_before and d.moved_before <= d.requested_at then false end
    from days d
    where d.metric like 'cumulative%' and d.before is not null`;

/**
 * SQL of the growth of cumulative metrics. The value of a cumulative metric includes its own day. The service
 * describes contracts as counted "to the timestamp", which would exclude that day. No recorded response
 * proves either interpretation, so both are accepted for contracts.
 */
const growth = `select ${row('metric_growth', 'd.metric', 'd.time_interval', 'd.bucket_start')},
      'growth of the day', ${valueText('g.growth')}, counted.metric, ${valueText('counted.value')},
      ${agreed(
        'd',
        'counted',
        `case when pair.exact then abs(g.growth - counted.value) <= ${counted('counted.value')}
          or (d.metric = 'cumulativeContracts' and abs(g.growth_after - counted.value) <= ${counted('counted.value')})
          else g.growth <= counted.value + ${counted('counted.value')} end`,
      )}
    from days d
    join (values ('cumulativeTxCount', 'txCount', true), ('cumulativeContracts', 'contracts', true),
      ('cumulativeAddresses', 'activeAddresses', false), ('cumulativeDeployers', 'deployers', false))
      as pair(cumulative, daily, exact) on pair.cumulative = d.metric
    join days counted on counted.metric = pair.daily and counted.bucket_start = d.bucket_start
    cross join lateral (select d.value - d.value_before as growth,
      case when d.after = d.bucket_start + interval '24 hours' then d.value_after - d.value end as growth_after) g
    where d.before = d.bucket_start - interval '24 hours'
      and (d.metric <> 'cumulativeContracts' or g.growth_after is not null)`;

const rates = `select ${row('metric_rates', 'd.metric', 'd.time_interval', 'd.bucket_start')},
      pair.daily || ' / 86400', ${valueText('round(counted.value / 86400, 6)')}, d.metric, ${valueText('d.value')},
      ${agreed('d', 'counted', 'abs(d.value - counted.value / 86400) <= greatest(0.05 * counted.value / 86400, 0.01)')}
    from days d
    join (values ('avgTps', 'txCount'), ('avgGps', 'gasUsed')) as pair(rate, daily) on pair.rate = d.metric
    join days counted on counted.metric = pair.daily and counted.bucket_start = d.bucket_start
    join days busy on busy.metric = 'txCount' and busy.bucket_start = d.bucket_start and busy.value >= 1000
    where d.before is not null`;

const bounds = `select ${row('metric_bounds', 'p.metric', 'p.time_interval', 'p.bucket_start')},
      under.metric, ${valueText('under.value')}, p.metric, ${valueText('p.value')},
      ${agreed('p', 'under', 'p.value >= under.value - greatest(0.01 * under.value, pair.slack)')}
    from points p
    join (values ('maxTps', 'avgTps', 0.01), ('maxGps', 'avgGps', 0.01), ('maxGasPrice', 'avgGasPrice', 0.01),
      ('activeAddresses', 'activeSenders', 1), ('contracts', 'deployers', 1)) as pair(most, least, slack) on pair.most = p.metric
    join points under on under.metric = pair.least and under.time_interval = p.time_interval
      and under.bucket_start = p.bucket_start`;

const versions = `select 'average_tps', 'average_tps', 'chain_id=' || $1, d.bucket_start,
      'average_tps (v1)', ${valueText('old.value')}, 'avgTps (v2)', ${valueText('d.value')},
      case when abs(old.value - d.value) <= greatest(0.02 * d.value, 0.02) then true
        when d.moved_at <= o.requested_at
          and (old.valid_from < d.bucket_start + interval '3 days' or old.valid_from <= d.requested_at) then false end
    from days d
    join recorder.average_tps old on old.chain_id = $1 and old.bucket_start = d.bucket_start and old.valid_to is null
    cross join lateral (select max(t.last_success_at) as requested_at from ${tableText(targetDatasets)} t
      where t.dataset = 'average_tps' and t.target_key = 'chainId=' || $1 and t.active) o
    where d.metric = 'avgTps' and o.requested_at >= d.bucket_start + interval '3 days'`;

/**
 * The statement that compares the metrics of one chain with each other. $1 and $2 as in {@link POINT_CTES};
 * $3: the time of the check.
 */
export const CHECK_METRICS = discrepancySql(
  [...POINT_CTES, ...parts.ctes, ...days.ctes],
  [parts.select, falls, growth, rates, bounds, versions].join('\n    union all '),
  '$3::timestamptz',
  'settled',
  ['metric_parts', 'metric_falls', 'metric_growth', 'metric_rates', 'metric_bounds', 'average_tps'],
);

/**
 * The statement that selects the days of a chain's metrics in order, as input of {@link findLevelShifts}. $1
 * and $2 as in {@link POINT_CTES}.
 */
export const METRIC_DAYS_SQL = `with ${POINT_CTES.join(', ')}
  select metric, extract(epoch from bucket_start)::float8 * 1000 as at, value::float8 as value
  from points where time_interval = 'day' and metric not like 'cumulative%' order by metric, bucket_start`;
