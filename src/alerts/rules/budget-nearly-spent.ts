import type { AlertRule } from '../rule.ts';

/** Fires when the daily budget of a service is nearly used up. */
export const budgetNearlySpent: AlertRule = {
  name: 'budget-nearly-spent',
  about:
    'The daily budget (UTC) of an upstream is nearly exhausted; once it is, requests wait for the next day.',
  severity: 'warning',
  for: 0,
  every: 60_000,
  limits: { percent: 90 },
  onlyNow: 'only the usage of the latest day of a budget is stored',
  dependsOn: ({ subject }) => [subject],
  evaluate: async ({ sql, at, limits, facts }) => {
    const rows = await sql<{ upstream: string; used: number; per_day: number }[]>`
      select b.upstream, b.day_units::float8 as used, limited.per_day
      from reporting_internal.budgets b
      join unnest(${facts.budgets.map(({ upstream }) => upstream)}::text[], ${facts.budgets.map(({ endpoint }) => endpoint)}::text[],
        ${facts.budgets.map(({ perDay }) => perDay)}::float8[]) as limited(upstream, endpoint, per_day) using (upstream, endpoint)
      where b.day = (${at}::timestamptz at time zone 'UTC')::date and b.day_units * 100 >= limited.per_day * ${limits.percent}::float8
      order by b.upstream`;
    return rows.map(({ upstream, used, per_day }) => ({
      subject: upstream,
      severity: used >= per_day ? 'critical' : undefined,
      summary: `${Math.floor((used / per_day) * 100)} % of today's budget of ${upstream} is used: ${used} of ${per_day} units`,
      since: null,
      details: { used, per_day },
    }));
  },
};
