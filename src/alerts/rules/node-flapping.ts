import type { AlertRule } from '../rule.ts';
import { dependsOnNode, selectHealthAt } from './health-at.ts';

/** Fires when a node goes down repeatedly. */
export const nodeFlapping: AlertRule = {
  name: 'node-flapping',
  about: 'A node went down several times within a short time.',
  severity: 'warning',
  for: 0,
  every: 60_000,
  limits: { threshold: 4, minutes: 60 },
  needs: ['node_health'],
  dependsOn: dependsOnNode,
  evaluate: async ({ sql, at, limits, facts }) => {
    const from = new Date(at.getTime() - limits.minutes * 60_000);
    const rows = await sql<Row[]>`
      with seen_by_each as (
        select observer, node, count(*)::int as times, min(started_at) as since,
          (array_agg(error order by started_at desc))[1] as error
        from reporting_internal.node_outages_in(${from}, ${at})
        where probe = 'health' and node = any(${[...facts.nodes]}::text[]) and started_at > ${from}
        group by observer, node
      ),
      flapping as (
        select distinct on (node) node, times, since, error from seen_by_each where times >= ${limits.threshold}
        order by node, times desc
      ),
      -- While the state is unknown, old outages leave the count and new ones are not counted.
      untold as (
        select l.node from (${selectHealthAt(sql, at, facts.nodes)}) l
        where l.probe = 'health' and l.check_name = '*'
        group by l.node having not bool_or(l.is_known)
      )
      select node, coalesce(f.times, 0) as times, f.since, f.error, f.node is null as unknown
      from flapping f full join untold using (node)
      order by node`;
    return rows.map(({ node, times, since, error, unknown }) => ({
      subject: node,
      summary: `${node} went down ${times} times within ${limits.minutes} minutes: ${error ?? 'no reason is reported'}`,
      since,
      details: { times },
      unknown,
    }));
  },
};

interface Row {
  readonly node: string;
  readonly times: number;
  readonly since: Date | null;
  readonly error: string | null;
  readonly unknown: boolean;
}
