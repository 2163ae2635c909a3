import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { LOCKS } from '../../src/db/row-lock.ts';
import { oneNode } from '../settings.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

/** After a crash the database's clock is an hour earlier: every held lease lies in the future. */
const futureLeases: Fault = {
  numbers: [70],
  title: 'leases an hour ahead after kill -9',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'I', 'X'],
  async inject(world) {
    const { evidence, sandbox, sql } = world;
    // Runs last, so that some are killed.
    sandbox.faults.tune({ lateMs: 1_500 });
    sandbox.faults.rate({ 'slow-headers': 1 });
    const datasets = { validators: { every: '5s' }, node_health: { every: '5s' } };
    const steady = await Steady.start(world, { nodes: oneNode(world), datasets });
    await steady.waitUntilRecorded();
    const heldLeases = () => sql`
      select 1 from recorder.targets t join recorder.runs r using (run_id)
      where r.status = 'running' and t.lease_until > now()`;
    await until('several runs to be under way', async () => (await heldLeases()).length >= 2);
    await steady.running.shift()?.kill();
    const targets = await sql`
      update recorder.targets t set lease_until = now() + interval '1 hour' from recorder.runs r
      where r.run_id = t.run_id and r.status = 'running' returning 1`;
    const observers = await sql`
      update recorder.health_observers set lease_until = now() + interval '1 hour'
      where holder is not null returning 1`;
    evidence.serve('leases of targets an hour ahead', targets.length);
    evidence.serve('leases of observers an hour ahead', observers.length);
    evidence.claim('leases of both kinds were held', targets.length > 0 && observers.length > 0);
    sandbox.faults.clear();
    const restartedAt = new Date();
    steady.launch();
    await steady.expectRecovery('the clock was set back');
    await eventually('the node to be probed again', async () => {
      const rows = await sql`select 1 from reporting_internal.node_probes where probed_at > ${restartedAt}`;
      return rows.length > 0;
    });
    evidence.figures.set('the node was probed again after', `${Date.now() - restartedAt.getTime()} ms`);
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

/** Twice as long as a connection may be silent. */
const HOLD_MS = 80_000;
const TRY_INTERVAL_MS = 5_000;

/** A process that runs a long exclusive task with the recorder's own lock. @returns its file */
async function writeHolderModule({ dir, databaseUrl, setting }: World): Promise<string> {
  const module = pathToFileURL(join(dirname(setting.cli), 'db', 'row-lock.js')).href;
  const file = join(dir, 'holder.mjs');
  await writeFile(
    file,
    `import { withRowLock } from ${JSON.stringify(module)};
    const work = async () => {
      process.stderr.write('mine\\n');
      await new Promise((resolve) => setTimeout(resolve, Number(process.argv[2])));
      return 'done';
    };
    const result = await withRowLock(${JSON.stringify(databaseUrl)}, ${JSON.stringify(LOCKS.schedules)}, work);
    process.stdout.write(String(result));`,
  );
  return file;
}

const idleLock: Fault = {
  numbers: [76],
  title: 'a lock whose connection is silent for longer than a minute',
  backends: 'any',
  invariants: ['X'],
  async inject(world) {
    const { evidence, sql } = world;
    const cli = await writeHolderModule(world);
    const pids = async () => {
      const rows = await sql<{ pid: number }[]>`
        select pid from pg_locks l join pg_stat_activity a using (pid)
        where l.relation = 'recorder_locks.locks'::regclass and l.granted and a.datname = current_database() and a.state = 'idle in transaction'`;
      return rows.map(({ pid }) => pid).join();
    };
    const first = world.recorder([String(HOLD_MS)], { cli });
    await first.waitForLog('mine');
    const startedAt = performance.now();
    const session = await pids();
    let tries = 0;
    for (; performance.now() - startedAt < HOLD_MS - TRY_INTERVAL_MS; tries++) {
      const other = world.recorder(['0'], { cli });
      await other.ended;
      if (other.stdout !== 'null') evidence.claim(`try ${tries} got the lock: ${other.stdout}`, false);
      if ((await pids()) !== session) evidence.claim(`at try ${tries} the session was another one`, false);
      await delay(TRY_INTERVAL_MS);
    }
    const ending = { ...(await first.ended), elapsedMs: performance.now() - startedAt };
    evidence.exit('the holder of the lock', ending, [0], HOLD_MS + 20_000);
    evidence.serve('idle lock');
    evidence.figures.set('tries of others', tries);
    evidence.claim('the lock was held, and others tried', session !== '' && tries >= 5);
    const after = world.recorder(['0'], { cli });
    await after.ended;
    evidence.claim('it is free afterwards', after.stdout === 'done');
  },
};

export const leaseFaults: readonly Fault[] = [futureLeases, idleLock];
