import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const HOUR_MS = 3_600_000;

/** 50: SIGTERM while a page is in flight. */
const stopInPage: Fault = {
  numbers: [50],
  title: 'SIGTERM in the middle of a page; twice',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'X'],
  short: true,
  sandbox: { blocksPerHour: 60 },
  async inject(world) {
    const { sandbox, evidence, random, setting } = world;
    const stops = setting.options.kills ?? (setting.options.short ? 3 : 6);
    // Half of the responses are slow, so that a stop hits the middle of a page.
    sandbox.faults.tune({ lateMs: 700 });
    sandbox.faults.rate({ 'slow-headers': 0.5 });
    const steady = await Steady.prepare(world, { days: 20 });
    const durationsMs: number[] = [];
    for (let stop = 0; stop < stops; stop++) {
      const recorder = random.unit() < 0.5 ? steady.launch() : backfill(world);
      const callsBefore = calls(world);
      await until(
        'a page to be requested, or the end',
        () => calls(world) > callsBefore || !recorder.running,
        120_000,
      );
      if (!recorder.running) continue;
      const twice = random.unit() < 0.2;
      const stopped = recorder.stop();
      if (twice) setTimeout(() => recorder.signal('SIGTERM'), 50 + random.below(500));
      const ending = await stopped;
      durationsMs.push(ending.elapsedMs);
      evidence.serve(twice ? 'SIGTERM twice' : 'SIGTERM');
      // A backfill that is stopped in its last page completes all the same.
      const codes = recorder.args[0] === 'backfill' ? [75, 0] : [0];
      evidence.exit(`${recorder.args[0]}, stopped${twice ? ' twice' : ''} in a page`, ending, codes, 20_000);
      world.noteLines(recorder);
      world.recorders.splice(world.recorders.indexOf(recorder), 1);
      steady.running = [];
      if (stop % 25 === 24) process.stderr.write(`  ${stop + 1} stops\n`);
    }
    evidence.times('stopped within', durationsMs);
    sandbox.faults.clear();
    steady.launch();
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

const calls = (world: World) => [...world.calls.values()].reduce((sum, count) => sum + count, 0);

/**
 * Starts a backfill of what is watched and of an hour more. A backfill that is stopped before the first poll
 * claims nothing after the newest item of its pages. Only a sweep of the next day claims that part.
 */
function backfill(world: World) {
  const from = Math.min(...world.watched.map((one) => one.from));
  const to = Math.max(...world.watched.map((one) => one.to)) + HOUR_MS;
  const range = ['--from', new Date(from).toISOString(), '--to', new Date(to).toISOString()];
  return world.recorder(['backfill', 'proposed_blocks', ...range]);
}

const withoutRedis: Fault = {
  numbers: [50],
  title: 'SIGTERM while Redis is down',
  backends: 'redis',
  invariants: ['A', 'B', 'C', 'X'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const steady = await Steady.start(world);
    await steady.waitUntilRecorded();
    await world.redis.crash();
    world.evidence.serve('Redis unavailable');
    await steady.wait(1_000);
    await steady.stop();
    await world.redis.start();
    steady.launch();
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

export const stopFaults: readonly Fault[] = [stopInPage, withoutRedis];
