import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { tableRowsSql } from '../../src/datasets/target-columns.ts';
import type { RevisingUpstream } from '../servers/revising-upstream.ts';
import type { World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** Converts a target of the revising upstream to the recorder's form. */
interface Version {
  readonly value: string;
  readonly from: number;
  readonly to: number | null;
}

/** D: the revisions of a point equal the upstream's responses over the committed runs, without equal neighbours. */
export const revised: Invariant = {
  letter: 'D',
  description: 'revisions = answers over the committed runs, equal neighbours collapsed',
  async check(world) {
    if (!world.revising) return ['no upstream whose revisions are known'];
    return wrongHistories(world, world.revising);
  },
};

async function wrongHistories({ sql, evidence }: World, upstream: RevisingUpstream): Promise<string[]> {
  const problems: string[] = [];
  let versions = 0;
  for (const target of upstream.targets) {
    const { chainId, metric, timeInterval } = target;
    const key = `chainId=${chainId} metric=${metric} timeInterval=${timeInterval}`;
    const runs = await sql<{ from: Date; to: Date; complete: boolean; first: number; end: number }[]>`
      select started_at as from, finished_at as to, status = 'done' as complete,
        (window_from / 1000.0)::float8 as first, (window_to / 1000.0)::float8 as end from recorder.runs
      where source = 'metric-points' and target_key = ${key} and pages > 0 order by run_id`;
    const expected = new Map<number, Version[]>();
    for (const run of runs) {
      const answer = upstream.answerWithin(target, run.from.getTime(), run.to.getTime());
      if (!answer) {
        problems.push(`${key}: a run of ${run.from.toISOString()} committed a response that was never sent`);
        continue;
      }
      for (const [timestamp, value] of answer.points) {
        const history = expected.get(timestamp) ?? [];
        expected.set(timestamp, history);
        const last = history.at(-1);
        if (last && last.to === null && last.value === value) continue;
        if (last && last.to === null) history[history.length - 1] = { ...last, to: answer.at };
        history.push({ value, from: answer.at, to: null });
      }
      if (!run.complete) continue;
      for (const [timestamp, history] of expected) {
        const last = history.at(-1);
        const isRequested = timestamp >= run.first && timestamp < run.end;
        if (isRequested && last && last.to === null && !answer.points.has(timestamp))
          history[history.length - 1] = { ...last, to: answer.at };
      }
    }
    const stored = await sql<{ at: string; values: string[]; removed: boolean }[]>`
      select extract(epoch from bucket_start)::text as at, array_agg(value::text order by valid_from) as values,
        bool_and(valid_to is not null) as removed
      from ${sql.unsafe(tableRowsSql(metricPoints))} as one
      where chain_id = ${chainId} and metric = ${metric} and time_interval = ${timeInterval} group by bucket_start`;
    const found = new Map(stored.map((row) => [Number(row.at), row]));
    for (const [timestamp, history] of expected) {
      versions += history.length;
      const row = found.get(timestamp);
      const expectedValues = history.map(({ value }) => value).join(' ');
      if (row?.values.join(' ') !== expectedValues)
        problems.push(`${key} at ${timestamp}: stored ${row?.values.join(' ')}, response ${expectedValues}`);
      else if (row.removed !== (history.at(-1)?.to !== null))
        problems.push(
          `${key} at ${timestamp}: ${row.removed ? 'removed' : 'current'}, unlike the last response`,
        );
      found.delete(timestamp);
    }
    for (const timestamp of found.keys())
      problems.push(`${key} at ${timestamp}: stored, but never committed`);
  }
  evidence.figures.set('versions', versions);
  return problems.slice(0, 20);
}
