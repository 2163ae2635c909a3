import type { Derived } from '../db/derive.ts';
import { tableFunction, view } from './commented.ts';

/** Columns that follow from the seconds of a window. `w` is the window's length, `k` the seconds by state. */
const shares = `k.up as up_seconds, k.down as down_seconds, w.seconds - k.up - k.down - k.maintenance as unknown_seconds,
      k.maintenance as maintenance_seconds,
      round(k.up / nullif(k.up + k.down, 0), 9) as uptime,
      round(k.up / nullif(w.seconds - k.maintenance, 0), 9) as uptime_lower,
      round((w.seconds - k.down - k.maintenance) / nullif(w.seconds - k.maintenance, 0), 9) as uptime_upper,
      round((k.up + k.down + k.maintenance) / nullif(w.seconds, 0), 9) as coverage`;

/** Seconds by state out of a sum of intervals a state, exact to the microsecond. */
const byState = (state: string, lasted: string) =>
  `coalesce(extract(epoch from sum(${lasted}) filter (where state = '${state}')), 0) as ${state}`;
const allStates = (lasted: string) =>
  ['up', 'down', 'maintenance'].map((state) => byState(state, lasted)).join(', ');

const shareTypes = {
  up_seconds: 'numeric',
  down_seconds: 'numeric',
  unknown_seconds: 'numeric',
  maintenance_seconds: 'numeric',
  uptime: 'numeric',
  uptime_lower: 'numeric',
  uptime_upper: 'numeric',
  coverage: 'numeric',
};

const shareComments = {
  up_seconds: 'Seconds it was up.',
  down_seconds: 'Seconds it was down by its own fault.',
  unknown_seconds: 'Seconds nobody could tell; the four add up to the window exactly.',
  maintenance_seconds: 'Seconds of announced maintenance.',
  uptime: 'up / (up + down); null where neither was seen.',
  uptime_lower: 'The uptime if it was down whenever nobody could tell.',
  uptime_upper: 'The uptime if it was up whenever nobody could tell.',
  coverage: 'The share of the window that is accounted for.',
};

/** An observer that is further behind the others than this is one that does not look. */
const TRAILING = '1 minute';

/**
 * Up to when the observers of a probe can be compared: as far as all of those have settled that watch it now. One whose
 * lease is gone, that trails far behind, or whose rows the database refuses is one that did not look since then.
 */
const comparable = `select w.node, w.probe, coalesce(
      min(w.settled_until) filter (where w.looks and w.settled_until > w.furthest - interval '${TRAILING}'),
      max(w.settled_until)) as until
    from (
      select p.node, p.probe, p.settled_until, o.watching and p.refused is null as looks,
        max(p.settled_until) filter (where o.watching and p.refused is null) over (partition by p.node, p.probe) as furthest
      from reporting.node_probes p join reporting.node_observers o using (observer)) w
    group by w.node, w.probe`;

/** The answers: uptime of any window, by day and by month, and by the majority of several observers. */
export const uptimeViews: readonly Derived[] = [
  tableFunction(
    'node_uptime',
    'Up, down, unknown and maintenance seconds of each probe in a window, which they add up to exactly. uptime is up / (up + down); its bounds count unknown time as down and as up.',
    ['"from" timestamptz', '"to" timestamptz'],
    { observer: 'text', node: 'text', probe: 'text', ...shareTypes },
    `select p.observer, p.node, p.probe, ${shares}
    from reporting.node_probes p
    cross join (select extract(epoch from "to" - "from") as seconds) w
    left join (
      select s.observer, s.node, s.probe, ${allStates('least(s.ended_at, "to") - greatest(s.started_at, "from")')}
      from reporting.node_states s where s.started_at < "to" and s.ended_at > "from" group by 1, 2, 3) seen
      on (seen.observer, seen.node, seen.probe) = (p.observer, p.node, p.probe)
    cross join lateral (select coalesce(seen.up, 0) as up, coalesce(seen.down, 0) as down,
      coalesce(seen.maintenance, 0) as maintenance) k
    where "from" < "to"`,
  ),
  uptimeBy('node_uptime_daily', 'day'),
  uptimeBy('node_uptime_monthly', 'month'),
  view(
    'node_quorum_states',
    `What the observers of a probe said together: down while a majority of those who looked saw it down. It reaches as far as all that watch have settled; one that stopped, or trails by more than ${TRAILING}, did not look from then on.`,
    `select node, probe, state, disagreement, observers_up, observers_down, started_at, ended_at
    from (
      select node, probe, at as started_at, next_at as ended_at, up as observers_up, down as observers_down,
        up > 0 and down > 0 as disagreement,
        case when maintenance > up + down then 'maintenance' when up + down = 0 then 'unknown'
          when down > up then 'down' else 'up' end as state
      from (
        select node, probe, at, lead(at) over moments as next_at, sum(up) over moments as up, sum(down) over moments as down,
          sum(maintenance) over moments as maintenance
        from (
          select node, probe, at, sum(sign * (state = 'up')::int) as up, sum(sign * (state = 'down')::int) as down,
            sum(sign * (state = 'maintenance')::int) as maintenance
          from reporting.node_states s
          join (${comparable}) c using (node, probe)
          cross join lateral (values (s.started_at, 1), (least(s.ended_at, c.until), -1)) as edge(at, sign)
          where state <> 'unknown' and s.started_at < c.until group by node, probe, at) edges
        window moments as (partition by node, probe order by at)) counted) told
    where ended_at is not null and state <> 'unknown'`,
    {
      node: 'The configured node.',
      probe: 'The probe.',
      state:
        'up, down or maintenance; as many up as down counts as up. Time that is in none of the parts is unknown.',
      disagreement: 'Some saw it up, others down.',
      observers_up: 'How many saw it up.',
      observers_down: 'How many saw it down.',
      started_at: 'The first moment.',
      ended_at: 'The end.',
    },
  ),
  tableFunction(
    'node_quorum',
    'Uptime by the majority of the observers that looked, and for how long they disagreed.',
    ['"from" timestamptz', '"to" timestamptz'],
    { node: 'text', probe: 'text', observers: 'bigint', ...shareTypes, disagreement_seconds: 'numeric' },
    `select p.node, p.probe, p.observers, ${shares}, coalesce(seen.disagreement, 0)
    from (select node, probe, count(*) as observers from reporting.node_probes group by node, probe) p
    cross join (select extract(epoch from "to" - "from") as seconds) w
    left join (
      select s.node, s.probe, ${allStates('least(s.ended_at, "to") - greatest(s.started_at, "from")')},
        extract(epoch from sum(least(s.ended_at, "to") - greatest(s.started_at, "from")) filter (where disagreement)) as disagreement
      from reporting.node_quorum_states s where s.started_at < "to" and s.ended_at > "from" group by 1, 2) seen
      on (seen.node, seen.probe) = (p.node, p.probe)
    cross join lateral (select coalesce(seen.up, 0) as up, coalesce(seen.down, 0) as down,
      coalesce(seen.maintenance, 0) as maintenance) k
    where "from" < "to"`,
  ),
];

/** Uptime by calendar units of UTC, from the first look to now. */
function uptimeBy(name: string, unit: 'day' | 'month'): Derived {
  const units = (from: string, to: string) =>
    `generate_series(date_trunc('${unit}', ${from} at time zone 'UTC'), (${to} at time zone 'UTC') - interval '1 microsecond', interval '1 ${unit}')`;
  const begin = `(u.begins at time zone 'UTC')`;
  const end = `((u.begins + interval '1 ${unit}') at time zone 'UTC')`;
  return view(
    name,
    `Uptime of each probe by ${unit} (UTC), from its first look until now; see reporting.node_uptime.`,
    `select p.observer, p.node, p.probe, p.begins::date as ${unit}, ${shares}
    from (
      select s.observer, s.node, s.probe, u.begins, least(${end}, max(s.until)) - ${begin} as lasts
      from (select observer, node, probe, min(started_at) as since, greatest(max(ended_at), now()) as until
        from reporting.node_states group by 1, 2, 3) s, ${units('s.since', 's.until')} as u(begins)
      group by s.observer, s.node, s.probe, u.begins) p
    cross join lateral (select extract(epoch from p.lasts) as seconds) w
    left join (
      select s.observer, s.node, s.probe, u.begins, ${allStates(`least(s.ended_at, ${end}) - greatest(s.started_at, ${begin})`)}
      from reporting.node_states s, ${units('s.started_at', 's.ended_at')} as u(begins) group by 1, 2, 3, 4) seen
      on (seen.observer, seen.node, seen.probe, seen.begins) = (p.observer, p.node, p.probe, p.begins)
    cross join lateral (select coalesce(seen.up, 0) as up, coalesce(seen.down, 0) as down,
      coalesce(seen.maintenance, 0) as maintenance) k`,
    {
      observer: 'The recorder that looked.',
      node: 'The configured node.',
      probe: 'The probe.',
      [unit]: `The ${unit} (UTC)${unit === 'month' ? ', by its first day' : ''}.`,
      ...shareComments,
    },
  );
}
