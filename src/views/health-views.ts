import type { Derived } from '../db/derive.ts';
import { view } from './commented.ts';

const probeColumns = {
  observer: 'The recorder that looked, by its configured name.',
  node: 'The configured node.',
  probe:
    'health, readiness or liveness; with :TAG, of the checks with that tag only, which never speaks for the node.',
};

/** How many probes an interval has: counted when it ends, and while it is open by the probe's counter. */
const probes = 'coalesce(h.probes, p.probes - h.probes_before)';

/** How an interval h of a probe p was worded at the last: kept with the probe while it is open, with it when it ended. */
const wordsNow = 'case when h.ended_at is null then p.latest -> h.check_name end';
export const lastWords = {
  error: `coalesce(h.last_error, ${wordsNow} ->> 'error', h.error)`,
  message: `coalesce(h.last_message, ${wordsNow} -> 'message', h.message)`,
  failures: `coalesce(h.failures, (${wordsNow} ->> 'failures')::bigint)`,
};

const accountColumns = {
  failing_since:
    'Since when the check fails by the account of the node itself; can lie before the first look.',
  failures: 'How often it failed in a row by the count of the node itself, at the last.',
};

/** The uptime ledger as people query it. Each view builds on those before. */
export const healthViews: readonly Derived[] = [
  view(
    'node_observers',
    'Who watches the nodes, and up to when what they saw is settled.',
    `select o.observer, o.lease_until >= now() as watching, o.holder, o.heartbeat_at as settled_until, o.refused
    from recorder.health_observers o`,
    {
      observer: probeColumns.observer,
      watching: 'Whether a process watches now.',
      holder: 'The process that does.',
      settled_until: 'Up to here the ledger is settled; what comes after is unknown so far.',
      refused:
        'Probes whose rows the database refuses, with since when and why: their ledgers stand still. Null: none.',
    },
  ),
  view(
    'node_absences',
    'When an observer did not look at all: that time is unknown for all its nodes.',
    'select a.observer, a.started_at, a.ended_at, a.reason from recorder.health_absences a',
    {
      observer: probeColumns.observer,
      started_at: 'The last moment it watched.',
      ended_at: 'When it had looked again at every node whose turn had come.',
      reason: 'Why.',
    },
  ),
  view(
    'node_probes',
    'What is probed, or ever was.',
    `select p.observer, p.node, p.probe, p.probes, p.probed_at, p.hour, p.entries,
      coalesce(r.since, o.heartbeat_at) as settled_until, r.reason as refused, p.latest
    from recorder.health_probes p
    join recorder.health_observers o using (observer)
    left join lateral (
      select (one ->> 'since')::timestamptz as since, one ->> 'reason' as reason from jsonb_array_elements(o.refused) as one
      where (one ->> 'node', one ->> 'probe') = (p.node, p.probe) limit 1) r on true`,
    {
      ...probeColumns,
      probes: 'Looks so far.',
      probed_at: 'The last one.',
      hour: 'The hour whose response times are being counted.',
      entries: 'Those response times, packed (reporting.node_latency reads them).',
      settled_until: 'Up to here the ledger of the probe is settled; what comes after is unknown so far.',
      refused:
        'Why the database refuses what is said of the probe, whose ledger stands still; null: it does not.',
      latest: 'By check, how what is said was worded at the last, where that is not how it was at first.',
    },
  ),
  view(
    'node_states',
    'Each probe as a whole: what was said of it, when. The parts neither overlap nor leave holes while somebody watched; time that is in none of them is unknown.',
    `with absences as materialized (
      select observer, range_agg(tstzrange(started_at, ended_at)) as absent from recorder.health_absences group by observer)
    select h.observer, h.node, h.probe, part.state, lower(part.during) as started_at, upper(part.during) as ended_at,
      case when part.state = h.state then h.error else 'nobody looked' end as error,
      h.reported and part.state = h.state as reported, h.ended_at is null and upper(part.during) = p.settled_until as is_open,
      case when lower(part.during) = coalesce(lower(v.seen), h.started_at) then ${probes} else 0 end as probes,
      case when part.state = h.state then ${lastWords.error} else 'nobody looked' end as last_error
    from recorder.node_health h
    join reporting.node_probes p using (observer, node, probe)
    left join absences a using (observer)
    cross join lateral (select tstzrange(h.started_at, coalesce(h.ended_at, greatest(p.settled_until, h.started_at))) as whole) w
    cross join lateral (select case when h.state <> 'maintenance' and a.absent && w.whole then tstzmultirange(w.whole) - a.absent
      else tstzmultirange(w.whole) end as seen) v
    cross join lateral (
      select h.state, unnest(v.seen) as during
      union all
      select 'unknown', unnest(tstzmultirange(w.whole) * a.absent) where h.state <> 'maintenance' and a.absent && w.whole) part
    where h.check_name = '*'`,
    {
      ...probeColumns,
      state: 'up, down, unknown (nobody could tell) or maintenance (announced).',
      started_at: 'The first moment.',
      ended_at: 'When something else was said, or up to when it is settled.',
      error: 'Why.',
      reported: 'The node gave a report, so that its checks are known.',
      is_open: 'It is still so.',
      probes:
        'Looks that said so, counted in the first part in which somebody watched where an absence cuts an interval.',
      last_error: 'Why, in the latest words.',
    },
  ),
  view(
    'node_health_intervals',
    'What was said of each probe (check *) and of each check, as intervals in which nothing changed.',
    `select s.observer, s.node, s.probe, '*'::text as check_name, s.state, s.started_at, s.ended_at, s.is_open, s.probes,
      s.error, null::jsonb as message, s.last_error, null::jsonb as last_message, null::timestamptz as failing_since,
      null::bigint as failures
    from reporting.node_states s
    union all
    select h.observer, h.node, h.probe, h.check_name, part.state, lower(part.during), upper(part.during),
      h.ended_at is null and upper(part.during) = p.settled_until,
      case when lower(part.during) = coalesce(lower(v.seen), h.started_at) then ${probes} else 0 end,
      part.error, case when part.said then h.message end, case when part.said then ${lastWords.error} else part.error end,
      case when part.said then ${lastWords.message} end, case when part.said then h.failing_since end,
      case when part.said then ${lastWords.failures} end
    from recorder.node_health h
    join reporting.node_probes p using (observer, node, probe)
    cross join lateral (select tstzrange(h.started_at, coalesce(h.ended_at, greatest(p.settled_until, h.started_at))) as whole) w
    cross join lateral (
      select range_agg(tstzrange(s.started_at, s.ended_at)) as during from reporting.node_states s
      where (s.observer, s.node, s.probe) = (h.observer, h.node, h.probe) and (not s.reported or s.state = 'maintenance')
        and s.started_at < upper(w.whole) and s.ended_at > lower(w.whole)) dark
    cross join lateral (select tstzmultirange(w.whole) - coalesce(dark.during, '{}') as seen) v
    cross join lateral (
      select h.state, h.error, true as said, unnest(v.seen) as during
      union all
      select case s.state when 'maintenance' then s.state else 'unknown' end, s.error, false,
        tstzrange(s.started_at, s.ended_at) * w.whole
      from reporting.node_states s
      where dark.during is not null and (s.observer, s.node, s.probe) = (h.observer, h.node, h.probe)
        and (not s.reported or s.state = 'maintenance') and tstzrange(s.started_at, s.ended_at) && w.whole) part
    where h.check_name <> '*'`,
    {
      ...probeColumns,
      check_name: 'A check of the node, or * for the probe as a whole.',
      state: 'up, down, unknown (nobody could tell) or maintenance (announced).',
      started_at: 'The first moment.',
      ended_at: 'When something else was said, or up to when it is settled.',
      is_open: 'It is still so.',
      probes:
        'Looks that said so, counted in the first part in which somebody watched where an interval is cut.',
      error: 'Why.',
      message: 'What a failing check said beside its error.',
      last_error:
        'Why, in the latest words: durations, shares, counts, times and ids that move are no change.',
      last_message: 'What a failing check said beside its error at the last.',
      ...accountColumns,
    },
  ),
  view(
    'node_health',
    'The last reading of each probe (check *) and each check.',
    `select h.observer, h.node, h.probe, h.check_name, h.state, h.error, h.message, h.started_at as since,
      p.probed_at as observed_at, ${lastWords.error} as last_error, ${lastWords.message} as last_message, h.failing_since,
      ${lastWords.failures} as failures
    from recorder.node_health h join recorder.health_probes p using (observer, node, probe) where h.ended_at is null`,
    {
      ...probeColumns,
      check_name: 'A check of the node, or * for the probe as a whole.',
      state: 'up, down, unknown (nobody could tell) or maintenance (announced).',
      error: 'Why.',
      message: 'What a failing check said beside its error.',
      since: 'Since when it is so.',
      observed_at: 'When the node was last asked.',
      last_error: 'Why, in the latest words.',
      last_message: 'What a failing check said beside its error at the last.',
      ...accountColumns,
    },
  ),
];
