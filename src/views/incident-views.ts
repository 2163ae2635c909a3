import type { Derived } from '../db/derive.ts';
import { view } from './commented.ts';
import { lastWords } from './health-views.ts';

/** A node that is up for less than this between two failures is flapping: it is one incident. */
const DAMPING = '5 minutes';

/** Incidents, built from the ledger. */
export const incidentViews: readonly Derived[] = [
  view(
    'node_incidents',
    `When nodes were down, by all observers together. Being up for less than ${DAMPING} does not end an incident.`,
    `select i.node, i.probe, i.started_at, i.ended_at, i.is_open,
      extract(epoch from coalesce(i.ended_at, i.seen_until) - i.started_at) as duration_seconds,
      i.down_seconds, i.outages, i.first_error, i.last_error, i.noticed_by, i.first_noticed_by,
      (select coalesce(array_agg(distinct c.check_name order by c.check_name), '{}') from recorder.node_health c
        where (c.node, c.probe) = (i.node, i.probe) and c.observer = any(i.noticed_by) and c.check_name <> '*'
          and c.state = 'down' and c.started_at < coalesce(i.ended_at, 'infinity')
          and coalesce(c.ended_at, 'infinity') > i.started_at) as failed_checks,
      own.failing_since, own.checks
    from (
      select node, probe, incident, min(started_at) as started_at,
        case when not bool_or(is_open) then max(ended_at) end as ended_at, bool_or(is_open) as is_open,
        max(ended_at) as seen_until, max(down_seconds) as down_seconds, max(outages) as outages,
        (array_agg(first_error order by started_at))[1] as first_error,
        (array_agg(last_error order by ended_at desc))[1] as last_error,
        array_agg(distinct observer order by observer) as noticed_by,
        (array_agg(observer order by started_at))[1] as first_noticed_by
      from (
        select *, count(*) filter (where apart) over (partition by node, probe order by started_at, observer) as incident
        from (
          select *, started_at > coalesce(max(case when is_open then 'infinity' else ended_at end) over (
              partition by node, probe order by started_at, observer rows between unbounded preceding and 1 preceding),
            '-infinity') as apart
          from (
            select observer, node, probe, min(started_at) as started_at, max(until) as ended_at,
              bool_or(ended_at is null) as is_open, extract(epoch from sum(until - started_at)) as down_seconds,
              count(*) filter (where before <> 'down' or before is null) as outages,
              (array_agg(error order by started_at))[1] as first_error,
              (array_agg(last_error order by started_at desc))[1] as last_error
            from (
              select h.observer, h.node, h.probe, h.state, h.started_at, h.ended_at, h.error, e.until,
                ${lastWords.error} as last_error,
                lag(h.state) over whole as before,
                count(*) filter (where h.state = 'up' and e.until - h.started_at >= interval '${DAMPING}') over whole as recoveries
              from recorder.node_health h
              join reporting.node_probes p using (observer, node, probe)
              cross join lateral (select coalesce(h.ended_at, greatest(p.settled_until, h.started_at)) as until) e
              where h.check_name = '*'
              window whole as (partition by h.observer, h.node, h.probe order by h.started_at)) said
            where state = 'down' group by observer, node, probe, recoveries) seen) ordered) joined
      group by node, probe, incident) i
    cross join lateral (
      select min(k.failing_since) as failing_since, coalesce(jsonb_object_agg(k.check_name, jsonb_build_object('first_error', k.first_error,
        'last_error', k.last_error, 'failing_since', k.failing_since, 'failures', k.failures)), '{}') as checks
      from (
        select h.check_name, (array_agg(h.error order by h.started_at))[1] as first_error,
          (array_agg(${lastWords.error} order by h.started_at desc))[1] as last_error,
          min(h.failing_since) as failing_since, max(${lastWords.failures}) as failures
        from recorder.node_health h join recorder.health_probes p using (observer, node, probe)
        where (h.node, h.probe) = (i.node, i.probe) and h.observer = any(i.noticed_by) and h.check_name <> '*'
          and h.state = 'down' and h.started_at < coalesce(i.ended_at, 'infinity')
          and coalesce(h.ended_at, 'infinity') > i.started_at
        group by h.check_name) k) own`,
    {
      node: 'The configured node.',
      probe: 'The probe; with :TAG, of a part of the node only.',
      started_at: 'The first failure.',
      ended_at: 'When it was well again; null: it is not.',
      is_open: 'It lasts.',
      duration_seconds: 'From the first failure to the end, or to the last look.',
      down_seconds: 'Seconds of it that it was down, as the observer saw it who saw most.',
      outages: 'How often it went down in that time.',
      first_error: 'Why, at first.',
      last_error: 'Why, at last.',
      noticed_by: 'The observers that saw it down.',
      first_noticed_by: 'The one that saw it first.',
      failed_checks: 'The checks that failed meanwhile.',
      failing_since:
        'Since when a check fails by the account of the node itself; can lie before the first look.',
      checks:
        'Of each failed check: its first and its latest error, and since when and how often it failed by the count of the node itself.',
    },
  ),
];
