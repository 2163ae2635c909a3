import type postgres from 'postgres';
import { configure, oneNode } from '../settings.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

/** Runs `up` with these datasets of one source until each was recorded this many more times. */
async function recordFor(
  world: World,
  datasets: Readonly<Record<string, { every: string }>>,
  times: number,
): Promise<void> {
  const { sql, evidence } = world;
  await configure(world, { nodes: oneNode(world), datasets });
  const startedAt = new Date();
  const recorder = world.recorder(['up']);
  for (const dataset of Object.keys(datasets))
    await until(`${dataset} to be recorded ${times} times`, async () => {
      const [row] = await sql<{ runs: number }[]>`
        select count(*)::int as runs from reporting.runs
        where dataset = ${dataset} and status = 'done' and started_at > ${startedAt}`;
      return (row?.runs ?? 0) >= times;
    });
  evidence.exit('up, stopped by SIGTERM', await recorder.stop(), [0], 20_000);
}

/** Parts of gaps within the coverage of the same dataset. */
async function falseGaps(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ wrong: number }[]>`
    select count(*)::int as wrong from recorder.gaps g
    join recorder.coverage c using (dataset, target_key) where not isempty(c.covered * int8multirange(g.range))`;
  return row?.wrong ?? 0;
}

const siblings: Fault = {
  numbers: [64],
  title: 'a dataset enabled later, disabled for a while, with another interval than its sibling',
  backends: 'each',
  invariants: ['X'],
  async inject(world) {
    const { evidence, sql } = world;
    const often = { every: '5s' };
    await recordFor(world, { validators: often }, 2);
    await recordFor(world, { validators: often, validator_uptime: often }, 2);
    evidence.serve('enabled later');
    await recordFor(world, { validators: often }, 7);
    evidence.serve('disabled for a while');
    const before = new Date();
    await recordFor(world, { validators: often, validator_uptime: { every: '15s' } }, 2);
    evidence.serve('another interval than its sibling');
    const [runs] = await sql<{ validators: number; uptime: number }[]>`
      select count(*) filter (where dataset = 'validators')::int as validators,
        count(*) filter (where dataset = 'validator_uptime')::int as uptime
      from reporting.runs where status = 'done' and started_at > ${before}`;
    evidence.figures.set(
      'runs in the last part',
      `${runs?.validators} every 5 s, ${runs?.uptime} every 15 s`,
    );
    evidence.claim('the rare one is not polled as often as its sibling', (runs?.uptime ?? 0) === 2);
    // The first poll is at the start, outside of the schedule: at least three are between the two of the rare one, or
    // with them.
    evidence.claim('the frequent one is not slowed by its sibling', (runs?.validators ?? 0) >= 3);
    const reasons = await sql<{ dataset: string; reason: string }[]>`
      select distinct dataset, reason from reporting.gaps where dataset in ('validators', 'validator_uptime')`;
    const expectedReason = 'not observed: the configuration did not contain it';
    evidence.claim(
      'the time in which it was disabled is a gap with its reason',
      reasons.some(({ dataset, reason }) => dataset === 'validator_uptime' && reason === expectedReason),
    );
    evidence.claim(
      'its sibling has no such gap',
      !reasons.some(({ dataset, reason }) => dataset === 'validators' && reason === expectedReason),
    );
    evidence.claim('no gap overlaps covered time', (await falseGaps(sql)) === 0);
  },
};

export const siblingFaults: readonly Fault[] = [siblings];
