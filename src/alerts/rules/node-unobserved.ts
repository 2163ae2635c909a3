import type { AlertRule } from '../rule.ts';
import { dependsOnNode } from './health-at.ts';

/** Fires when no observer could determine the state of a node for some minutes. */
export const nodeUnobserved: AlertRule = {
  name: 'node-unobserved',
  about: 'The state of a node is unknown: its responses are not health reports, or no observer probed it.',
  severity: 'warning',
  // Longer than the time from the start of a recorder to its first probes, so that a restart does not fire.
  for: 60_000,
  every: 30_000,
  limits: { minutes: 5 },
  needs: ['node_health'],
  dependsOn: dependsOnNode,
  evaluate: async ({ sql, at, limits, facts }) => {
    const since = new Date(at.getTime() - limits.minutes * 60_000);
    const rows = await sql<Row[]>`
      with watched as (
        -- The observer of a node may change in between.
        select p.node, min(lower(watch)) filter (where watch @> ${since}::timestamptz) as since
        from reporting_internal.node_probes p cross join lateral unnest(p.watched) as watch
        where p.probe = 'health' and p.node = any(${[...facts.nodes]}::text[])
        group by p.node
        having bool_or(watch @> ${since}::timestamptz) and bool_or(watch @> ${at}::timestamptz)
      ),
      unobserved as (
        select w.* from watched w
        where not exists (
          select from reporting_internal.node_states s
          where s.node = w.node and s.probe = 'health' and s.state <> 'unknown' and s.started_at <= ${at}
            and s.ended_at > ${since} and s.interval_started_at <= ${at} and s.interval_ended_at > ${since})
      )
      select u.node, coalesce(last_known.at, u.since) as since, last_known.state as last_state, last_probe.error
      from unobserved u
      left join lateral (
        select s.ended_at as at, s.state from reporting_internal.node_states s
        where s.node = u.node and s.probe = 'health' and s.state <> 'unknown' and s.started_at <= ${at}
          and s.ended_at > u.since
        order by s.ended_at desc limit 1) last_known on true
      left join lateral (
        select s.last_error as error from reporting_internal.node_states s
        where s.node = u.node and s.probe = 'health' and s.started_at <= ${at} and s.ended_at > ${since}
        order by s.started_at desc limit 1) last_probe on true
      order by u.node`;
    return rows.map(({ node, since: unknownSince, last_state, error }) => ({
      subject: node,
      summary: `${node} is not observed: ${error ?? 'no observer probed the node'}`,
      since: unknownSince,
      details: { error, last_state },
    }));
  },
};

interface Row {
  readonly node: string;
  readonly since: Date;
  /** The last known state; null if the state was never known. */
  readonly last_state: string | null;
  readonly error: string | null;
}
