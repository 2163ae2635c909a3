import type { AlertRule } from '../rule.ts';

/** Reason why rules about gaps do not support past moments. */
const ONLY_NOW = 'past gaps are not stored: a filled gap is deleted';

interface Row {
  readonly dataset: string;
  readonly holes: number;
  readonly target: string;
  readonly oldest: Date | null;
  readonly reason: string;
}

/** Fires when gaps that can still be fetched stay open. */
export const gapOpen: AlertRule = {
  name: 'gap-open',
  about:
    'A gap that can still be fetched has been open for long; the upstream may not keep the data much longer.',
  severity: 'warning',
  for: 6 * 3_600_000,
  every: 300_000,
  onlyNow: ONLY_NOW,
  dependsOn: ({ subject }) => [subject],
  evaluate: async ({ sql }) => {
    const rows = await sql<Row[]>`
      select dataset, count(*)::int as holes, (array_agg(target order by range_start, first_height, target))[1] as target,
        min(range_start) as oldest, min(reason) as reason
      from reporting.gaps where reason = 'not recorded yet'
      group by dataset order by dataset`;
    return rows.map(({ dataset, holes, target, oldest }) => ({
      subject: dataset,
      summary: `${holes} ${holes === 1 ? 'hole' : 'holes'} of ${dataset} could be fetched and are not, the oldest of ${target}${oldest === null ? '' : ` from ${oldest.toISOString()}`}`,
      since: null,
      details: { holes, target, oldest },
    }));
  },
};

/** Fires when a range is lost permanently. */
export const gapPermanent: AlertRule = {
  name: 'gap-permanent',
  about: 'A range can no longer be recorded. Of node health: a long time without probes.',
  severity: 'warning',
  for: 0,
  every: 60_000,
  limits: { days: 1, minutes: 10 },
  event: true,
  evaluate: async ({ sql, at, limits }) => {
    // During an outage, the loss of each target is noticed at a different moment. Losses less than an hour
    // apart are one alert. The query reads twice the time range, so that the start of an outage does not move
    // while its alert is open.
    const rows = await sql<(Row & { reasons: number; noticed: Date })[]>`
      with lost as (
        select *, coalesce(noticed_at - lag(noticed_at) over (partition by dataset order by noticed_at) > interval '1 hour', true) as is_first
        from reporting_internal.permanent_gaps
        where noticed_at <= ${at}::timestamptz
          and noticed_at > ${at}::timestamptz - make_interval(secs => ${limits.days * 2 * 86_400}::float8)
          and (dataset <> 'node_health' or range_end - range_start >= make_interval(secs => ${limits.minutes * 60}::float8))
      ),
      outages as (
        select *, max(noticed_at) filter (where is_first) over (partition by dataset order by noticed_at) as noticed from lost
      )
      select dataset, count(*)::int as holes, (array_agg(target order by noticed_at desc, target))[1] as target,
        min(range_start) as oldest, (array_agg(reason order by noticed_at desc, target))[1] as reason,
        count(distinct reason)::int as reasons, noticed
      from outages
      where noticed > ${at}::timestamptz - make_interval(secs => ${limits.days * 86_400}::float8)
      group by dataset, noticed order by noticed desc, dataset`;
    return rows.map(({ dataset, holes, target, oldest, reason, reasons, noticed }) => ({
      subject: `${dataset} ${noticed.toISOString()}`,
      summary: `a part of ${dataset} is lost: ${target}${holes > 1 ? ` and ${holes - 1} more` : ''}${oldest === null ? '' : ` from ${oldest.toISOString()}`}: ${reason}${reasons > 1 ? `; other reasons: ${reasons - 1}` : ''}`,
      since: oldest,
      details: { holes, target },
    }));
  },
};
