import type { Invariant } from './invariant.ts';

/** A state may be believed for so many intervals after a probe. */
const BELIEVED = 2.5;

/**
 * I: up + down + unknown + maintenance = wall time: intervals of a check follow one another without hole or overlap, and
 * none but unknown ones are longer than their probes account for.
 */
export const accounted: Invariant = {
  letter: 'I',
  says: 'up + down + unknown + maintenance = wall time, and nothing is up that nobody looked at',
  async check({ sql }) {
    const rows = await sql<{ node: string; probe: string; off: number }[]>`
      select node, probe,
        (extract(epoch from max(ended_at) - min(started_at)) - sum(extract(epoch from ended_at - started_at)))::float8 as off
      from recorder.node_health where check_name = '*' group by observer, node, probe`;
    const believed = await sql<
      { node: string; probe: string; state: string; seconds: number; probes: number }[]
    >`
      select h.node, h.probe, h.state, h.probes::int, extract(epoch from h.ended_at - h.started_at)::float8 as seconds
      from recorder.node_health h
      join recorder.targets t on t.source = 'node-health'
        and t.target = jsonb_build_object('observer', h.observer, 'node', h.node, 'probe', h.probe)
      where h.state <> 'unknown' and h.check_name = '*'
        and h.ended_at - h.started_at > (h.probes + 1) * ${BELIEVED}::float8 * make_interval(secs => t.every_ms / 1000.0)`;
    return [
      ...(rows.length === 0 ? ['no health was recorded'] : []),
      ...rows.flatMap(({ node, probe, off }) =>
        Math.abs(off) < 1e-6
          ? []
          : [`${probe} of ${node}: ${off} s of the time are in no interval, or in two`],
      ),
      ...believed.map(
        ({ node, probe, state, seconds, probes }) =>
          `${probe} of ${node}: ${state} for ${seconds} s by ${probes} probes`,
      ),
    ];
  },
};
