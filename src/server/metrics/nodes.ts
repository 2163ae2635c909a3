import { counter, gauge, type MetricPart, type Sample } from './samples.ts';
import { probeLimitNote, refuseTooManyProbes, watchedProbes } from './watched-probes.ts';

const STATES = ['up', 'down', 'unknown', 'maintenance'] as const;
/**
 * Maximum number of checks per probe with a series. The node determines the number and names of its checks.
 */
const MAX_CHECKS = 100;
/** Maximum length of a check's name, in characters. Checks with longer names have no series. */
const MAX_NAME_CHARACTERS = 200;

const up = gauge(
  'node_up',
  '1 while the node is up, 0 while it is down, by the majority of its observers. No sample while the state is unknown or maintenance.',
  'node',
  'probe',
);
const since = gauge(
  'chain_recorder_node_state_since_timestamp_seconds',
  'Start of the current state of the probe health, as Unix time.',
  'node',
);
const state = gauge(
  'chain_recorder_node_state',
  '1 for the state that the observer sees, 0 for the others: up, down, unknown or maintenance.',
  'observer',
  'node',
  'probe',
  'state',
);
const checkUp = gauge(
  'chain_recorder_node_check_up',
  `1 while the node reports the check as passing, 0 while it reports the check as failing. No sample while the state is unknown. Only the first ${MAX_CHECKS} checks of a probe by name.`,
  'observer',
  'node',
  'probe',
  'check',
);
const checks = gauge(
  'chain_recorder_node_checks',
  'All checks that the node reports, counted by state.',
  'observer',
  'node',
  'probe',
  'state',
);
const probeCounts = counter(
  'chain_recorder_node_probes_total',
  'Probes of the node.',
  'observer',
  'node',
  'probe',
);
const lastProbe = gauge(
  'chain_recorder_node_last_probe_timestamp_seconds',
  'Time of the last probe, as Unix time.',
  'observer',
  'node',
  'probe',
);

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

/** Returns the state of a probe for an observer: unknown if no process of the observer probes. */
const observedState = ({ state: stored, watching }: ProbeRow) =>
  watching ? (stored ?? 'unknown') : 'unknown';

/**
 * Returns the samples of the checks of a probe. The states of the checks are unknown unless the node answered
 * the probe with a report. During maintenance, all checks count as maintenance.
 */
function checkSamples(one: ProbeRow): Sample[] {
  const { observer, node, probe } = one;
  const whole = observedState(one);
  const all = one.checks_up + one.checks_down;
  if (!one.watching || !one.reported || whole === 'maintenance')
    return STATES.map((each) => {
      const counts = each === (whole === 'maintenance' ? whole : 'unknown');
      return checks.of(counts ? all : 0, observer, node, probe, each);
    });
  const counted = { up: one.checks_up, down: one.checks_down, unknown: 0, maintenance: 0 };
  return [
    ...STATES.map((each) => checks.of(counted[each], observer, node, probe, each)),
    ...one.names.map((check, at) =>
      checkUp.of(one.states[at] === 'up' ? 1 : 0, observer, node, probe, check),
    ),
  ];
}

export const nodeMetrics: MetricPart = {
  name: 'nodes',
  about:
    'States of the nodes, from the health ledger. `node_up == 0` is a node that is down. Unobserved time has no sample, ' +
    'so that it counts neither as up nor as down; alert on it with `absent` or `chain_recorder_node_state{state="unknown"} == 1`. ' +
    '`probe` is `health`, `readiness` or `liveness`; probes of a tag (`health:TAG`) do not count for the node and have no `node_up`. ' +
    probeLimitNote,
  families: [up, since, state, checkUp, checks, probeCounts, lastProbe],
  reader:
    ({ sql }) =>
    async () => {
      await refuseTooManyProbes(sql);
      const [now, probes] = await Promise.all([
        sql<{ node: string; probe: string; state: string; since: Date | null }[]>`
          with watched as (${watchedProbes(sql)})
          select n.node, p.probe, p.state, case when p.probe = 'health' then n.since end as since
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
      return [
        ...now.flatMap(({ node, probe, state: is, since: at }) => [
          ...(is === 'up' || is === 'down' ? [up.of(is === 'up' ? 1 : 0, node, probe)] : []),
          ...(at === null ? [] : [since.of(at.getTime() / 1000, node)]),
        ]),
        ...probes.flatMap((one) => {
          const { observer, node, probe } = one;
          return [
            ...STATES.map((each) =>
              state.of(each === observedState(one) ? 1 : 0, observer, node, probe, each),
            ),
            ...checkSamples(one),
            ...(one.probes === null ? [] : [probeCounts.of(one.probes, observer, node, probe)]),
            ...(one.probed_at ? [lastProbe.of(one.probed_at.getTime() / 1000, observer, node, probe)] : []),
          ];
        }),
      ];
    },
};
