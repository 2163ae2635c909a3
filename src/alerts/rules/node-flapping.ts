import type { Rule } from '../rule.ts';

/** A node that goes down again and again. */
export const nodeFlapping: Rule = {
  name: 'node-flapping',
  about: 'A node went down several times within a short time, however briefly each.',
  severity: 'warning',
  for: 0,
  every: 60_000,
  limits: { times: 4, minutes: 60 },
  needs: ['node_health'],
  ask: async ({ sql, at, limits, facts }) => {
    const from = new Date(at.getTime() - limits.minutes * 60_000);
    const rows = await sql<{ node: string; times: number; since: Date; error: string | null }[]>`
      with seen_by_each as (
        select observer, node, count(*)::int as times, min(started_at) as since,
          (array_agg(error order by started_at desc))[1] as error
        from reporting.node_outages_in(${from}, ${at})
        where probe = 'health' and node = any(${[...facts.nodes]}::text[]) and started_at > ${from}
        group by observer, node
      )
      select distinct on (node) node, times, since, error from seen_by_each where times >= ${limits.times}
      order by node, times desc`;
    return rows.map(({ node, times, since, error }) => ({
      subject: node,
      summary: `${node} went down ${times} times within ${limits.minutes} minutes: ${error ?? 'it gives no reason'}`,
      since,
      details: { times },
    }));
  },
};
