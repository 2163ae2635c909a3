import { clearQueue, matchesExpectedSchedules, measureScheduleRecovery, queueOf } from '../schedules.ts';
import { Steady } from '../steady.ts';
import { eventually } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const sandbox = { blocksPerHour: 30 };

const emptied: Fault = {
  numbers: [9],
  title: 'Redis restarts with nothing',
  backends: 'redis',
  invariants: ['A', 'B', 'C', 'E', 'G'],
  sandbox,
  async inject(world) {
    const steady = await Steady.start(world, { days: 3 });
    const durationsMs: number[] = [];
    for (let time = 0; time < (world.setting.options.kills ?? 1); time++) {
      await eventually('a run to continue', () => isRecording(world));
      await world.redis.crash();
      await world.redis.start();
      world.evidence.serve('restart with nothing');
      durationsMs.push(await measureScheduleRecovery(world));
    }
    world.evidence.times('schedules back', durationsMs);
    await steady.expectRecovery('Redis restarted');
    await finish(world, steady);
  },
};

const flushed: Fault = {
  numbers: [10],
  title: "FLUSHALL; the queue's tables truncated",
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'G'],
  sandbox,
  async inject(world) {
    const steady = await Steady.start(world, { days: 3 });
    await eventually('the schedules to be set', async () =>
      matchesExpectedSchedules((await queueOf(world)).schedules),
    );
    const durationsMs: number[] = [];
    for (let time = 0; time < (world.setting.options.kills ?? 1); time++) {
      await eventually('a run to continue', () => isRecording(world));
      await clearQueue(world);
      world.evidence.serve(world.backend === 'redis' ? 'FLUSHALL' : 'TRUNCATE');
      durationsMs.push(await measureScheduleRecovery(world));
    }
    world.evidence.times('schedules back', durationsMs);
    await steady.expectRecovery('the queue was emptied');
    await finish(world, steady);
  },
};

const full: Fault = {
  numbers: [11],
  title: 'Redis out of memory (maxmemory 1mb, noeviction)',
  backends: 'redis',
  invariants: ['A', 'E', 'G'],
  sandbox,
  async inject(world) {
    const steady = await Steady.start(world);
    await steady.waitUntilRecorded();
    const lines = steady.running[0]?.lineCount ?? 0;
    await world.redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await steady.wait(12_000);
    await world.redis.command('CONFIG', 'SET', 'maxmemory', '0');
    world.evidence.serve('out of memory');
    world.evidence.bound('log lines in 12 s without memory', (steady.running[0]?.lineCount ?? 0) - lines, 60);
    await steady.expectRecovery('Redis had memory again');
    await finish(world, steady);
  },
};

const evicting: Fault = {
  numbers: [12],
  title: 'maxmemory-policy other than noeviction',
  backends: 'redis',
  invariants: ['X'],
  async inject(world) {
    const steady = await Steady.prepare(world, {});
    world.watched.length = 0;
    await world.redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const startedAt = performance.now();
    const up = steady.launch();
    const killTimer = setTimeout(() => up.signal('SIGKILL'), 30_000);
    const ending = await up.ended;
    clearTimeout(killTimer);
    world.evidence.serve('allkeys-lru');
    world.evidence.exit(
      'up on a Redis that evicts',
      { ...ending, elapsedMs: performance.now() - startedAt },
      [2],
      30_000,
    );
    world.evidence.claim('the fix is reported', up.find('set maxmemory-policy noeviction') !== undefined);
  },
};

const frozen: Fault = {
  numbers: [13],
  title: 'Redis frozen for 12 s',
  backends: 'redis',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox,
  async inject(world) {
    const steady = await Steady.start(world);
    await steady.waitUntilRecorded();
    const thaw = world.redis.freeze();
    await steady.wait(12_000);
    thaw();
    world.evidence.serve('frozen');
    await steady.expectRecovery('the thaw');
    await finish(world, steady);
  },
};

async function finish(world: World, steady: Steady): Promise<void> {
  await steady.waitUntilCovered();
  for (const recorder of steady.running) {
    world.evidence.claim('the process lives on', recorder.running);
    world.evidence.bound('memory of up, in MiB', await recorder.samplePeakMemory(), 256);
  }
  await steady.stop();
}

/** Whether anything was recorded in the last seconds. */
async function isRecording({ sql }: World): Promise<boolean> {
  const rows = await sql`select 1 from recorder.runs where started_at > now() - interval '4 seconds' limit 1`;
  return rows.length > 0;
}

export const redisFaults: readonly Fault[] = [emptied, flushed, full, evicting, frozen];
