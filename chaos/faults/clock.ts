import { ManualClock } from '../../sandbox/clock.ts';
import { MAX_INDEX_LAG_MS } from '../../src/datasets/sources/durations.ts';
import { inProcess } from '../in-process.ts';
import { clockJumps } from '../preloads.ts';
import { clearQueue } from '../schedules.ts';
import { blockTargets, DAY, dayOf, midnight, oneNode, UNCLAIMED_DAYS } from '../settings.ts';
import { Steady, type SteadyPlan } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 10, 5, 17);

async function jump(world: World, steady: Steady): Promise<void> {
  const [recorder] = steady.running;
  const before = recorder?.count('the clock jumped') ?? 0;
  recorder?.signal('SIGUSR2');
  await until('the clock to jump', () => (recorder?.count('the clock jumped') ?? 0) > before);
  world.evidence.serve('clock jumped');
}

const clockJump: Fault = {
  numbers: [18],
  title: 'clock +2 h and back; −1 h and back',
  backends: 'each',
  invariants: ['B', 'C', 'E', 'I'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const offsets = [2 * HOUR, 0, -HOUR, 0];
    const steady = await Steady.start(world, {
      node: clockJumps(offsets),
      nodes: oneNode(world),
      datasets: { node_health: { every: '5s' } },
    });
    await steady.waitUntilRecorded();
    for (const offset of offsets) {
      await jump(world, steady);
      if (offset === 0) await steady.expectRecovery('the clock was right again');
      else await steady.wait(15_000);
    }
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

const clockSkew: Fault = {
  numbers: [18],
  title: 'app and database 90 s apart',
  backends: 'any',
  invariants: ['X'],
  async inject(world) {
    await Steady.prepare(world, { nodes: oneNode(world) });
    world.watched.length = 0;
    const startedAt = performance.now();
    const doctor = world.recorder(['doctor'], { node: clockJumps([], 90_000) });
    const ending = await doctor.ended;
    world.evidence.serve('90 s apart');
    world.evidence.exit('doctor', { ...ending, elapsedMs: performance.now() - startedAt }, [1], 60_000);
    world.evidence.claim('doctor names the skew', doctor.stdout.includes('NTP'));
  },
};

const machineSleep: Fault = {
  numbers: [19],
  title: 'the machine sleeps ten minutes',
  backends: 'each',
  invariants: ['B', 'C', 'I'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { sql, evidence } = world;
    const steady = await Steady.start(world, {
      node: clockJumps([600_000]),
      nodes: oneNode(world),
      datasets: { node_health: { every: '5s' } },
    });
    await steady.waitUntilCovered();
    const [recorder] = steady.running;
    recorder?.signal('SIGSTOP');
    await steady.wait(3_000);
    recorder?.signal('SIGUSR2');
    recorder?.signal('SIGCONT');
    evidence.serve('slept');
    const wokenAt = new Date(Date.now() + 590_000);
    await eventually('the node to be probed again', async () => {
      const rows = await sql`select 1 from reporting_internal.node_states where ended_at > ${wokenAt}`;
      return rows.length > 0;
    });
    const sleepStates = await sql`
      select 1 from reporting_internal.node_states where state = 'unknown' and ended_at - started_at > interval '9 minutes'`;
    evidence.claim('the time asleep is unknown', sleepStates.length > 0);
    const [row] = await sql<{ max_runs: number }[]>`
      select max(n)::int as max_runs from (select count(*) as n from recorder.runs
        where source = 'proposed-blocks' and started_at between ${wokenAt} and ${new Date(wokenAt.getTime() + 13_000)}
        group by target_key) per_target`;
    evidence.bound('runs of a target right after the sleep', row?.max_runs ?? 0, 3);
    await steady.stop();
  },
};

const longDowntime: Fault = {
  numbers: [9],
  title: '48 hours of downtime on the injected clock, and a cleared queue',
  backends: 'any',
  invariants: ['A', 'B', 'C'],
  short: true,
  async inject(world) {
    const { sql, evidence } = world;
    const clock = new ManualClock(START);
    const sandbox = await world.openSandbox({
      clock: clock.now,
      blocksPerHour: 20,
      genesisMs: START - 60 * DAY,
    });
    const nodeIds = sandbox.network.validators.nodes.slice(0, 1).map(({ nodeId }) => nodeId);
    const recorder = await inProcess(
      world,
      {
        datasets: {
          proposed_blocks: { since: '2026-01-08' },
          metric_points: { every: '1h', metrics: ['txCount'], intervals: ['hour'] },
          validators: { every: '1h' },
        },
        nodeIds,
        chains: ['43114'],
        nodes: oneNode(world),
      },
      clock.now,
    );
    // The queue only triggers plans from PostgreSQL, so one trigger replaces an hourly tick.
    for (let hour = 0; hour < 3; hour++) {
      for (const feed of recorder.feeds) await recorder.work(feed);
      clock.advance(HOUR);
    }
    const before = clock.now();
    clock.advance(48 * HOUR);
    evidence.serve('hours of downtime', 48);
    for (const feed of recorder.feeds) await recorder.work(feed);
    clock.advance(HOUR);
    for (const feed of recorder.feeds) await recorder.work(feed);
    const downtimeEnd = clock.now() - HOUR;
    // The index may trail: a range counts as covered only after that delay.
    clock.advance(MAX_INDEX_LAG_MS);
    for (const feed of recorder.feeds) await recorder.work(feed);
    const rows = await sql<{ dataset: string; target_key: string; missing: string; gaps: number }[]>`
      select c.dataset, c.target_key,
        (int8multirange(int8range(${before}::bigint, ${downtimeEnd}::bigint)) - c.covered
          - coalesce((select range_agg(g.range) from recorder.gaps g
              where g.dataset = c.dataset and g.target_key = c.target_key and g.reason <> ''), '{}'))::text as missing,
        (select count(*) from recorder.gaps g where g.dataset = c.dataset and g.target_key = c.target_key)::int as gaps
      from recorder.coverage c`;
    for (const { dataset, target_key, missing, gaps } of rows) {
      evidence.claim(
        `${dataset} ${target_key}: nothing between is unaccounted for, not ${missing}`,
        missing === '{}',
      );
      const observed = dataset !== 'proposed_blocks' && dataset !== 'metric_points';
      evidence.claim(`${dataset} ${target_key}: ${gaps} gaps`, observed ? gaps > 0 : gaps === 0);
    }
    evidence.figures.set('datasets and targets accounted for', rows.length);
    world.watched.push(...blockTargets(nodeIds, Date.UTC(2026, 0, 8), downtimeEnd - HOUR));
  },
};

/** The recorder ran two days ago, was stopped, its queue was cleared, and it starts again now: real processes. */
const twoDayDowntime: Fault = {
  numbers: [9],
  title: '48 hours between two starts of up, and a cleared queue',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'I', 'X'],
  async inject(world) {
    const { sql, evidence } = world;
    const clock = { offset: -2 * DAY };
    await world.openSandbox({
      clock: () => Date.now() + clock.offset,
      blocksPerHour: 60,
      genesisMs: Date.now() - 60 * DAY,
    });
    const plan: SteadyPlan = {
      days: 4,
      nodes: oneNode(world),
      chains: ['43114'],
      datasets: {
        proposed_blocks: { every: '5s', since: dayOf(midnight(4 + UNCLAIMED_DAYS)) },
        metric_points: {
          every: '5s',
          metrics: ['txCount'],
          intervals: ['hour'],
          since: dayOf(midnight(4 + UNCLAIMED_DAYS)),
        },
        validators: { every: '5s' },
        node_health: { every: '5s' },
      },
    };
    const before = await Steady.start(world, { ...plan, node: clockJumps([], clock.offset) });
    const now = world.watched.splice(0);
    world.watched.push(...now.map((one) => ({ ...one, to: one.to + clock.offset })));
    await before.waitUntilCovered();
    await before.stop();
    const stopped = Date.now() + clock.offset;
    await clearQueue(world);
    clock.offset = 0;
    evidence.serve('hours of downtime', 48);
    world.watched.splice(0, world.watched.length, ...now);
    const after = await Steady.start(world, plan);
    world.watched.splice(now.length);
    await after.waitUntilCovered();
    const started = Date.now();
    await after.waitUntilRecorded();
    await eventually('every feed to be polled again', () => isPolledAgain(world, started));
    await after.stop();
    const rows = await unaccountedHours(world, stopped, started - 2 * HOUR);
    for (const { dataset, target, missing, gaps } of rows) {
      evidence.claim(`${dataset} ${target}: ${missing} is unaccounted for`, missing === '{}');
      const observed = dataset !== 'proposed_blocks' && dataset !== 'metric_points';
      evidence.claim(`${dataset} ${target}: ${gaps} gaps`, observed ? gaps > 0 : gaps === 0);
    }
    evidence.claim('all four datasets are there', new Set(rows.map(({ dataset }) => dataset)).size >= 4);
    evidence.figures.set('datasets and targets accounted for', rows.length);
    const [{ n = 0 } = {}] = await sql<{ n: number }[]>`
      select count(*)::int as n from reporting.metric_points where bucket_start > ${new Date(stopped)}`;
    evidence.claim(`the hours of the metric were fetched afterwards: ${n}`, n >= 46);
  },
};

async function isPolledAgain({ sql }: World, since: number): Promise<boolean> {
  const rows = await sql`
    select 1 from reporting.freshness where last_success_at is null or last_success_at <= ${new Date(since)}`;
  return rows.length === 0;
}

/** The ranges of a time, for each dataset and target, that are neither recorded nor a gap with a reason. */
async function unaccountedHours({ sql }: World, from: number, to: number) {
  return sql<{ dataset: string; target: string; missing: string; gaps: number }[]>`
    with known as (
      select dataset, target, range_start, range_end, 0 as gap from reporting.coverage
      union all
      select dataset, target, range_start, range_end, 1 from reporting.gaps where reason <> '')
    select dataset, target, sum(gap)::int as gaps,
      (tstzmultirange(tstzrange(${new Date(from)}, ${new Date(to)}))
        - range_agg(tstzrange(range_start, range_end)))::text as missing
    from known where range_end > ${new Date(from)} group by dataset, target order by dataset, target`;
}

export const clockFaults: readonly Fault[] = [
  longDowntime,
  twoDayDowntime,
  clockJump,
  clockSkew,
  machineSleep,
];
