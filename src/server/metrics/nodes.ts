import { counter, gauge, type MetricRow, metricTable } from './samples.ts';
import { probeLimitNote, refuseTooManyProbes, watchedProbes } from './watched-probes.ts';

const STATES = ['up', 'down', 'unknown', 'maintenance'] as const;
/**
 * Maximum number of checks per probe with a series. The node determines the number and names of its checks.
 */
const MAX_CHECKS = 100;
/** Maximum length of a check's name, in characters. Checks with longer names have no series. */
const MAX_NAME_CHARACTERS = 200;

/** Labels of the metrics of a probe. */
const PROBE = ['observer', 'node', 'probe'] as const;

interface ProbeRow {
  readonly observer: string;
  readonly node: string;
  readonly probe: string;
  /** State in the ledger; null if there is none yet. */
  readonly state: string | null;
  readonly reported: boolean | null;
  readonly watching: boolean;
  readonly probes: number | null;
  readonly probed_at: Date | null;
  readonly checks_up: number;
  readonly checks_down: number;
  readonly names: readonly string[];
  readonly states: readonly string[];
}

/**
 * Returns the rows of a probe. Its state is unknown if no process of the observer probes. The states of the
 * checks are unknown unless the node answered the probe with a report. During maintenance, all checks count as
 * maintenance.
 */
function probeRows({ observer, node, probe, ...one }: ProbeRow): MetricRow[] {
  const labels = { observer, node, probe };
  const whole = one.watching ? (one.state ?? 'unknown') : 'unknown';
  const isReported = one.watching && one.reported && whole !== 'maintenance';
  const counted: Readonly<Record<string, number>> = isReported
    ? { up: one.checks_up, down: one.checks_down }
    : { [whole === 'maintenance' ? whole : 'unknown']: one.checks_up + one.checks_down };
  return [
    { ...labels, probes: one.probes, probed_at: one.probed_at },
    ...STATES.map((state) => ({ ...labels, state, is_state: state === whole, checks: counted[state] ?? 0 })),
    ...(isReported
      ? one.names.map((check, at) => ({ ...labels, check, check_up: one.states[at] === 'up' }))
      : []),
  ];
}

export const nodeMetrics = metricTable({
  name: 'nodes',
  about:
    'States of the nodes, from the health ledger. `node_up == 0` is a node that is down. Unobserved time has no sample, ' +
    'so that it counts neither as up nor as down; alert on it with `absent` or `chain_recorder_node_state{state="unknown"} == 1`. ' +
    '`probe` is `health`, `readiness` or `liveness`; probes of a tag (`health:TAG`) do not count for the node and have no `node_up`. ' +
    probeLimitNote,
  metrics: {
    up: gauge(
      'node_up',
      '1 while the node is up, 0 while it is down, by the majority of its observers. No sample while the state is unknown or maintenance.',
      'node',
      'probe',
    ),
    since: gauge(
      'chain_recorder_node_state_since_timestamp_seconds',
      'Start of the current state of the probe health, as Unix time.',
      'node',
    ),
    is_state: gauge(
      'chain_recorder_node_state',
      '1 for the state that the observer sees, 0 for the others: up, down, unknown or maintenance.',
      ...PROBE,
      'state',
    ),
    check_up: gauge(
      'chain_recorder_node_check_up',
      `1 while the node reports the check as passing, 0 while it reports the check as failing. No sample while the state is unknown. Only the first ${MAX_CHECKS} checks of a probe by name.`,
      ...PROBE,
      'check',
    ),
    checks: gauge(
      'chain_recorder_node_checks',
      'All checks that the node reports, counted by state.',
      ...PROBE,
      'state',
    ),
    probes: counter('chain_recorder_node_probes_total', 'Probes of the node.', ...PROBE),
    probed_at: gauge(
      'chain_recorder_node_last_probe_timestamp_seconds',
      'Time of the last probe, as Unix time.',
      ...PROBE,
    ),
  },
  rows: async ({ sql }) => {
    await refuseTooManyProbes(sql);
    const [nodes, probes] = await Promise.all([
      sql<MetricRow[]>`
        with watched as (${watchedProbes(sql)})
        select n.node, p.probe, case p.state when 'up' then 1 when 'down' then 0 end as up,
          case when p.probe = 'health' then n.since end as since
        from reporting_internal.node_health_now n
        cross join lateral (
          values ('health', n.health), ('readiness', n.readiness), ('liveness', n.liveness)) as p(probe, state)
        where p.state is not null and exists (
          select from watched w where (w.node, w.probe) = (n.node, p.probe))
        order by 1, 2`,
      sql<ProbeRow[]>`
        with watched as (${watchedProbes(sql)})
        select w.observer, w.node, w.probe, l.state, l.reported, coalesce(o.watching, false) as watching,
          p.probes::float8, p.probed_at, counted.up::int as checks_up, counted.down::int as checks_down,
          coalesce(named.names, '{}') as names, coalesce(named.states, '{}') as states
        from watched w
        left join reporting_internal.node_observers o using (observer)
        left join reporting_internal.node_probes p using (observer, node, probe)
        left join reporting_internal.node_health_ledger l on (l.observer, l.node, l.probe) = (w.observer, w.node, w.probe)
          and l.check_name = '*' and l.ended_at is null
        cross join lateral (
          select count(*) filter (where h.state = 'up') as up, count(*) filter (where h.state = 'down') as down
          from reporting_internal.node_health_ledger h
          where (h.observer, h.node, h.probe) = (w.observer, w.node, w.probe) and h.check_name <> '*'
            and h.ended_at is null) counted
        cross join lateral (
          select array_agg(c.check_name) as names, array_agg(c.state) as states
          from (
            select h.check_name, h.state from reporting_internal.node_health_ledger h
            where (h.observer, h.node, h.probe) = (w.observer, w.node, w.probe) and h.check_name <> '*'
              and h.ended_at is null and h.state in ('up', 'down') and length(h.check_name) <= ${MAX_NAME_CHARACTERS}
            order by h.check_name limit ${MAX_CHECKS}) c) named
        order by 1, 2, 3`,
    ]);
    return [...nodes, ...probes.flatMap(probeRows)];
  },
});
