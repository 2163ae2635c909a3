import type { AlertRule } from '../rule.ts';

/** Fires when the level of a metric changed permanently. */
export const seriesBreak: AlertRule = {
  name: 'series-break',
  about: 'The level of a daily metric shifted abruptly and permanently; the service may count differently.',
  severity: 'info',
  for: 0,
  every: 600_000,
  limits: { days: 1 },
  event: true,
  evaluate: async ({ sql, at, limits }) => {
    const rows = await sql<
      { chain_id: string; metric: string; broke_on: string; broke_at: Date; ratio: string | null }[]
    >`
      select chain_id, metric, broke_at, to_char(broke_at at time zone 'UTC', 'YYYY-MM-DD') as broke_on, ratio::text
      from reporting.series_breaks
      where found_at <= ${at}::timestamptz and found_at > ${at}::timestamptz - make_interval(secs => ${limits.days * 86_400}::float8)
      order by chain_id, metric, broke_at`;
    return rows.map(({ chain_id, metric, broke_on, broke_at, ratio }) => ({
      subject: `${chain_id} ${metric} ${broke_on}`,
      summary: `${metric} of chain ${chain_id} has another level since ${broke_on}${ratio === null ? '' : `: ${ratio} times the previous level`}`,
      since: broke_at,
    }));
  },
};
