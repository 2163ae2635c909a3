import type { AlertRule, RuleFinding } from '../rule.ts';
import { dependsOnNode, selectHealthAt } from './health-at.ts';

const MINUTE = 60_000;

/**
 * Fires when a node is down for most of its observers. The summary contains the errors of the checks of the
 * node.
 */
export const nodeDown: AlertRule = {
  name: 'node-down',
  about: 'A node is down, by the majority of its observers.',
  severity: 'critical',
  for: MINUTE,
  every: 30_000,
  clear: MINUTE,
  needs: ['node_health'],
  dependsOn: dependsOnNode,
  evaluate: async ({ sql, at, facts }) => {
    const rows = await sql<Row[]>`
      with probe_states as materialized (
        select l.*, outage.went_down
        from (${selectHealthAt(sql, at, facts.nodes)}) l
        left join lateral (
          select o.started_at as went_down from reporting_internal.node_outages_in(${at}::timestamptz, ${at}::timestamptz) o
          where l.check_name = '*' and l.state = 'down' and (o.observer, o.node, o.probe) = (l.observer, l.node, l.probe)) outage on true
      ),
      votes as (
        select node, probe, count(*) filter (where is_known and state = 'up') as up,
          count(*) filter (where is_known and state = 'down') as down, bool_or(is_known) as any_known,
          min(went_down) filter (where state = 'down') as since,
          (array_agg(last_error order by went_down) filter (where state = 'down'))[1] as error,
          array_agg(distinct observer order by observer) filter (where state = 'down') as observers
        from probe_states where check_name = '*'
        group by node, probe
      ),
      first_words as (
        select distinct on (node, probe, check_name) node, probe, check_name, last_error, failing_since
        from probe_states where check_name <> '*' and state = 'down' and is_known
        order by node, probe, check_name, since
      ),
      failing as (
        select node, probe, min(failing_since) as failing_since,
          string_agg(check_name || coalesce(': ' || last_error, ''), '; ' order by check_name) as words,
          jsonb_object_agg(check_name, jsonb_build_object('error', last_error, 'failing_since', failing_since)) as checks
        from first_words
        group by node, probe
      )
      select v.node, substring(v.probe from 'health:(.*)') as tag, v.since, v.error, f.words, f.failing_since, f.checks,
        v.observers, not v.any_known as unknown
      from votes v left join failing f using (node, probe)
      where v.down > v.up or not v.any_known
      order by v.node, v.probe`;
    return rows.map(foundOf);
  },
};

interface Row {
  readonly node: string;
  /** Tag whose checks are down; null if the state of the whole node is down. */
  readonly tag: string | null;
  readonly since: Date | null;
  readonly error: string | null;
  readonly words: string | null;
  readonly failing_since: Date | null;
  readonly checks: unknown;
  readonly observers: readonly string[] | null;
  readonly unknown: boolean;
}

function foundOf({
  node,
  tag,
  since,
  error,
  words,
  failing_since,
  checks,
  observers,
  unknown,
}: Row): RuleFinding {
  const byNode =
    failing_since === null ? '' : ` (failing since ${failing_since.toISOString()} by its own count)`;
  return {
    subject: tag === null ? node : `${node} ${tag}`,
    summary: `${node}${tag === null ? '' : ` (${tag})`} is down: ${words ?? error ?? 'no reason is reported'}${byNode}`,
    since,
    details: { error, checks, failing_since, observers },
    unknown,
  };
}
