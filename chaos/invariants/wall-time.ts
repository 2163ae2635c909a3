import type { Invariant } from './invariant.ts';

/** Maximum age of a state, in intervals after a probe. */
const MAX_STATE_INTERVALS = 2.5;

/**
 * I: up + down + unknown + maintenance = wall time: intervals of a check follow one another without hole or overlap, and
 * none but unknown ones are longer than their probes account for.
 */
export const accounted: Invariant = {
  letter: 'I',
  description: 'up + down + unknown + maintenance = wall time, and unobserved time is never up',
  async check({ sql }) {
    const rows = await sql<{ node: string; probe: string; off: number }[]>`
      select h.node, h.probe, coalesce(extract(epoch from max(s.ended_at) - min(s.started_at))
        - sum(extract(epoch from s.ended_at - s.started_at)), 0)::float8 as off
      from (select distinct observer, node, probe from recorder.node_health) h
      -- What is not settled yet is in no part.
      left join reporting_internal.node_states s using (observer, node, probe) group by h.observer, h.node, h.probe`;
    const overlong = await sql<{ node: string; probe: string; seconds: number; probes: number }[]>`
      select s.node, s.probe, p.probes::int, extract(epoch from sum(s.ended_at - s.started_at))::float8 as seconds
      from reporting_internal.node_states s
      join recorder.health_probes p using (observer, node, probe)
      join (recorder.targets t join recorder.target_datasets d using (source, target_key)) on d.dataset = 'node_health'
        and t.target = jsonb_build_object('observer', s.observer, 'node', s.node, 'probe', s.probe)
      where s.state in ('up', 'down') group by s.observer, s.node, s.probe, p.probes, d.every_ms
      having sum(s.ended_at - s.started_at) > (p.probes + 1) * ${MAX_STATE_INTERVALS}::float8 * make_interval(secs => d.every_ms / 1000.0)`;
    return [
      ...(rows.length === 0 ? ['no health was recorded'] : []),
      ...rows.flatMap(({ node, probe, off }) =>
        Math.abs(off) < 1e-6
          ? []
          : [`${probe} of ${node}: ${off} s of the time are in no interval, or in two`],
      ),
      ...overlong.map(
        ({ node, probe, seconds, probes }) =>
          `${probe} of ${node}: up or down for ${seconds} s by ${probes} probes`,
      ),
    ];
  },
};
