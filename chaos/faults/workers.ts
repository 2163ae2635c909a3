import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../evidence.ts';
import { blocksOnSignal } from '../preloads.ts';
import type { RecorderProcess } from '../recorder-process.ts';
import { matchesExpectedSchedules, queueOf } from '../schedules.ts';
import { RevisingUpstream } from '../servers/revising-upstream.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import { COMMIT } from './database.ts';
import type { Fault } from './fault.ts';

const sandbox = { blocksPerHour: 60 };

/** The moments of a commit at which a worker is killed. */
const MOMENTS = ['after the fetch', 'during the commit', "before the commit's answer", 'after it'] as const;

const killedAtCommit: Fault = {
  numbers: [2],
  title: "kill -9 after the fetch, during the commit, before and after its response, before the job's end",
  backends: 'each',
  invariants: ['A', 'B', 'C', 'H'],
  sandbox,
  async inject(world) {
    const { proxy, evidence, setting } = world;
    const kills = setting.options.kills ?? 8;
    const steady = await Steady.start(world, { days: 8, proxied: true });
    for (let kill = 0; kill < kills; kill++) {
      const moment = MOMENTS[kill % MOMENTS.length] ?? 'after it';
      const worker = steady.running[0];
      if (!worker) throw new Error('no worker');
      await killAt(world, worker, moment);
      evidence.serve(`killed ${moment}`);
      steady.running = [];
      steady.launch();
    }
    proxy.decide(null);
    await steady.waitUntilCovered(300_000);
    await steady.stop();
  },
};

/** Waits for a commit and kills the worker at that moment of it. */
async function killAt(
  { proxy }: World,
  worker: RecorderProcess,
  moment: (typeof MOMENTS)[number],
): Promise<void> {
  await new Promise<void>((resolve) => {
    let isCommitSeen = false;
    proxy.decide((statement) => {
      if (isCommitSeen || !statement.includes(COMMIT)) return 'forward';
      isCommitSeen = true;
      if (moment === 'after it') setTimeout(resolve, 15);
      else resolve();
      if (moment === 'after the fetch') return 'cut-before';
      return moment === "before the commit's answer" ? 'lose' : 'forward';
    });
  });
  await worker.kill();
}

/** Each takes some ten seconds. */
const MAX_TAKEOVERS = 100;

/** Slows runs down: however fast the other worker is, this one has one to kill or to freeze. */
function slowUpstream({ sandbox }: World): void {
  sandbox.faults.tune({ lateMs: 700 });
  sandbox.faults.rate({ 'slow-headers': 0.5 });
}

const workerTakeover: Fault = {
  numbers: [1],
  title: 'kill -9 of one of two workers of a queue: recovery',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'H'],
  // Days of three pages: a job that is taken over does not wait long for a worker that is busy with another one.
  sandbox: { blocksPerHour: 10 },
  async inject(world) {
    const { sql, evidence, random, setting } = world;
    const kills = Math.min(setting.options.kills ?? 4, MAX_TAKEOVERS);
    slowUpstream(world);
    const steady = await Steady.start(world, { days: 60, watch: 4, processes: 2 });
    const recoveryTimesMs: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const victim = random.pick(steady.running);
      await victim.waitForLog('recording started');
      const orphans = await eventually(
        'the worker to be at work',
        async () => {
          await delay(random.unit() * 400);
          const rows = await sql<{ source: string; target_key: string }[]>`
            select source, target_key from recorder.runs
            where status = 'running' and worker like ${`%/${victim.pid}`}`;
          return rows.length > 0 ? rows : null;
        },
        120_000,
      );
      await victim.kill();
      const killed = Date.now();
      evidence.serve('kill -9');
      steady.running.splice(steady.running.indexOf(victim), 1);
      for (const { source, target_key } of orphans) {
        const next = await eventually('another worker to take over', async () => {
          const [row] = await sql<{ started_at: Date }[]>`
            select min(started_at) as started_at from recorder.runs
            where source = ${source} and target_key = ${target_key} and started_at > ${new Date(killed)}`;
          return row?.started_at ?? null;
        });
        recoveryTimesMs.push(next.getTime() - killed);
      }
      steady.launch();
      if (kill % 10 === 9)
        process.stderr.write(`  ${kill + 1} kills, p99 ${percentile(recoveryTimesMs, 0.99)} ms\n`);
    }
    evidence.times('taken over after', recoveryTimesMs);
    evidence.claim('p99 of the recovery is at most 10 s', percentile(recoveryTimesMs, 0.99) <= 10_000);
    world.sandbox.faults.clear();
    await steady.waitUntilCovered(600_000);
    await steady.stop();
  },
};

const twoWorkers: Fault = {
  numbers: [14],
  title: 'two workers on one target',
  backends: 'each',
  invariants: ['A', 'B', 'C'],
  sandbox,
  async inject(world) {
    const { sql, evidence } = world;
    const steady = await Steady.start(world, { watch: 1, processes: 2 });
    const more = world.recorder(['record', 'proposed_blocks']);
    evidence.serve('workers on the same targets', 3);
    await more.ended;
    await steady.waitUntilCovered();
    const startedAt = Date.now();
    const before = totalCalls(world);
    await steady.wait(20_000);
    const perTarget = (totalCalls(world) - before) / 3;
    evidence.bound('calls for a target in 20 s', perTarget, 6);
    evidence.figures.set('polls of a target in 20 s', perTarget);
    const overlaps = await sql`
      select a.run_id from recorder.runs a join recorder.runs b
        on a.source = b.source and a.target_key = b.target_key and a.run_id < b.run_id
      where a.started_at < ${new Date(startedAt)}::timestamptz and a.status <> 'lost'
        and b.started_at < coalesce(a.finished_at, 'infinity') limit 1`;
    evidence.claim('no two runs of a target overlap', overlaps.length === 0);
    await steady.stop();
  },
};

const totalCalls = ({ calls }: World) => [...calls.values()].reduce((sum, count) => sum + count, 0);

const restartStorm: Fault = {
  numbers: [15],
  title: 'eight processes start at once; twelve restarts in a crash loop',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox,
  async inject(world) {
    const { evidence, random } = world;
    const steady = await Steady.start(world, { watch: 1, processes: 8 });
    evidence.serve('processes at once', 8);
    await steady.waitUntilRecorded();
    await expectSchedulesOnce(world, 'eight processes');
    for (const one of steady.running.splice(1)) await one.kill();
    for (let crash = 0; crash < 12; crash++) {
      const looping = steady.running.pop();
      if (!looping) break;
      await looping.waitForLog('recording started');
      await delay(random.unit() * 1_000);
      await looping.kill();
      evidence.serve('crash');
      steady.launch();
    }
    await steady.running[0]?.waitForLog('recording started');
    await steady.expectRecovery('the crash loop');
    await expectSchedulesOnce(world, 'the crash loop');
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

async function expectSchedulesOnce(world: World, after: string): Promise<void> {
  const { schedules, waiting } = await queueOf(world);
  world.evidence.claim(
    `each schedule once after ${after}, not ${schedules.join(', ')}`,
    matchesExpectedSchedules(schedules),
  );
  // Of each of three targets a poll and a heal; the next tick of both schedules and two other plans.
  world.evidence.bound(`jobs in the queue after ${after}`, waiting, 10);
}

const frozenWorker: Fault = {
  numbers: [16],
  title: 'a worker frozen past its lock and its lease, then resumed',
  backends: 'each',
  invariants: ['A', 'B', 'C'],
  short: true,
  sandbox,
  async inject(world) {
    const { sql, evidence } = world;
    slowUpstream(world);
    const steady = await Steady.start(world, { days: 8, processes: 2 });
    for (let time = 0; time < 2; time++) {
      // One worker may have claimed all targets, whose first runs take minutes.
      const { worker, runIds } = await eventually('a worker to be at work', async () => {
        const rows = await sql<{ run_id: string; worker: string }[]>`
          select run_id, worker from recorder.runs where status = 'running'`;
        const worker = steady.running.find(({ pid }) => rows.some((row) => row.worker.endsWith(`/${pid}`)));
        if (!worker) return null;
        const ownRuns = rows.filter((row) => row.worker.endsWith(`/${worker.pid}`));
        return { worker, runIds: ownRuns.map(({ run_id }) => run_id) };
      });
      worker.signal('SIGSTOP');
      evidence.serve('frozen');
      await eventually('its runs to be lost, or ended before', async () => {
        const rows =
          await sql`select 1 from recorder.runs where run_id = any(${runIds}::bigint[]) and status = 'running'`;
        return rows.length === 0;
      });
      const before = await rowsOf(world, runIds);
      worker.signal('SIGCONT');
      await steady.wait(3_000);
      evidence.claim(
        'what the resumed worker committed changed nothing',
        (await rowsOf(world, runIds)) === before,
      );
    }
    world.sandbox.faults.clear();
    await steady.waitUntilCovered(300_000);
    await steady.stop();
  },
};

/** The worker has its response and has not committed: when it continues, another one has recorded later data. */
const frozenWithAnswer: Fault = {
  numbers: [16],
  title: 'a worker frozen with an old response',
  backends: 'each',
  invariants: ['B', 'D'],
  async inject(world) {
    const { evidence, random, sql } = world;
    const upstream = await RevisingUpstream.open({ random, points: 60, changeShare: 0.6, faults: 0 });
    world.closers.add(() => upstream.close());
    world.revising = upstream;
    const steady = await Steady.start(world, {
      watch: 0,
      chains: ['43114'],
      metrics: { url: upstream.url },
      datasets: {
        proposed_blocks: { enabled: false },
        metric_points: { every: '5s', metrics: ['txCount'], intervals: ['hour'] },
      },
    });
    await steady.waitUntilRecorded();
    for (let time = 0; time < 3; time++) {
      const [old] = steady.running;
      if (!old) throw new Error('no worker');
      const nextResponse = upstream.next();
      await nextResponse;
      old.signal('SIGSTOP');
      evidence.serve('frozen with an answer');
      steady.launch();
      const answered = upstream.answered;
      await until('the other worker to have recorded twice', () => upstream.answered >= answered + 2);
      await eventually('no run to be under way', async () => {
        const rows = await sql`select 1 from recorder.runs where status = 'running'`;
        return rows.length === 0;
      });
      old.signal('SIGCONT');
      await steady.wait(3_000);
      await old.kill();
      steady.running.shift();
    }
    await steady.stop();
  },
};

async function rowsOf({ sql }: World, runs: readonly string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from recorder.proposed_blocks b join recorder.runs r using (run_id)
    where run_id = any(${runs}::bigint[]) and r.status = 'lost'`;
  return row?.n ?? 0;
}

/** Maximum delay of the event loop since the last call, in seconds, by the process's own metrics. */
async function loopDelay(worker: RecorderProcess | undefined): Promise<number> {
  const metrics = await (await fetch(`${worker?.address}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1] ?? 0);
}

const blocked: Fault = {
  numbers: [17],
  title: 'five seconds of blocked event loop',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox,
  async inject(world) {
    const { evidence } = world;
    const steady = await Steady.start(world, { days: 8, processes: 2, node: blocksOnSignal(5_000) });
    for (let time = 0; time < 3; time++) {
      const worker = steady.running[time % 2];
      const before = worker?.count('blocked') ?? 0;
      worker?.signal('SIGUSR2');
      await until('the loop to be free again', () => (worker?.count('blocked') ?? 0) > before);
      evidence.serve('blocked loop');
      const late = await loopDelay(worker);
      evidence.claim(`a metric reports the blocked loop: ${late} s late at most`, late >= 4);
    }
    await steady.expectRecovery('the loop was free');
    await steady.waitUntilCovered(300_000);
    await steady.stop();
  },
};

export const workerFaults: readonly Fault[] = [
  workerTakeover,
  killedAtCommit,
  twoWorkers,
  restartStorm,
  frozenWorker,
  frozenWithAnswer,
  blocked,
];
