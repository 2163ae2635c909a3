import type { Invariant } from './invariant.ts';

/** I: up + down + unknown + maintenance = wall time: intervals of a check follow one another without hole or overlap. */
export const accounted: Invariant = {
  letter: 'I',
  says: 'up + down + unknown + maintenance = wall time',
  async check({ sql }) {
    const rows = await sql<{ node: string; probe: string; off: number; intervals: number }[]>`
      select node, probe, count(*)::int as intervals,
        (extract(epoch from max(ended_at) - min(started_at)) - sum(extract(epoch from ended_at - started_at)))::float8 as off
      from recorder.node_health where check_name = '*' group by observer, node, probe`;
    if (rows.length === 0) return ['no health was recorded'];
    return rows.flatMap(({ node, probe, off }) =>
      off === 0 ? [] : [`${probe} of ${node}: ${off} s of the time are in no interval, or in two`],
    );
  },
};
