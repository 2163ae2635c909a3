import { setTimeout as delay } from 'node:timers/promises';
import { Steady } from '../steady.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

async function runTimed(world: World, args: readonly string[], env: Record<string, string> = {}) {
  const startedAt = performance.now();
  const recorder = world.recorder(args, { env });
  const ending = await recorder.ended;
  return { ...ending, elapsedMs: performance.now() - startedAt, recorder };
}

const migrators: Fault = {
  numbers: [49],
  title: 'kill in a migration; 20 migrators at once; a migration older than the last',
  backends: 'any',
  invariants: ['X'],
  async inject(world) {
    const { evidence, random, setting } = world;
    await Steady.prepare(world, {});
    world.watched.length = 0;
    const name = `blank_${world.dir
      .slice(-6)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '_')}`;
    const env = { DATABASE_URL: await setting.postgres.blank(name) };
    world.closers.add(() => setting.postgres.drop(name));
    for (let kill = 0; kill < 6; kill++) {
      const migrator = world.recorder(['migrate'], { env });
      await Promise.race([delay(300 + random.unit() * 1_200), migrator.ended]);
      if (migrator.running) evidence.serve('killed in a migration');
      await migrator.kill();
    }
    const all = await Promise.all(Array.from({ length: 20 }, () => runTimed(world, ['migrate'], env)));
    evidence.serve('migrators at once', all.length);
    for (const one of all) evidence.exit('migrate, one of twenty', one, [0], 120_000);
    // A migration that this version does not contain is between others.
    await world.sql`
      insert into drizzle.__drizzle_migrations (hash, created_at) values ('stray', 1)`;
    evidence.serve('stray migration');
    const stray = await runTimed(world, ['migrate']);
    evidence.exit('migrate over a stray migration', stray, [2], 60_000);
    evidence.claim(
      'the problem is reported',
      stray.recorder.lines.some((line) => line.includes('migration 1 of this database')),
    );
  },
};

const versions: Fault = {
  numbers: [51],
  title: 'a worker older or newer than the schema',
  backends: 'each',
  invariants: ['X'],
  async inject(world) {
    const { evidence, sql } = world;
    await Steady.prepare(world, {});
    world.watched.length = 0;
    const [last] = await sql<{ id: number; hash: string; created_at: string }[]>`
      select id, hash, created_at from drizzle.__drizzle_migrations order by created_at desc limit 1`;
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('of tomorrow', 9999999999999)`;
    evidence.serve('newer schema');
    for (const args of [['up'], ['record', 'proposed_blocks'], ['status']])
      evidence.exit(`${args[0]} on a newer schema`, await runTimed(world, args), [2], 60_000);
    await sql`delete from drizzle.__drizzle_migrations where hash = 'of tomorrow' or id = ${last?.id ?? 0}`;
    evidence.serve('older schema');
    for (const args of [['record', 'proposed_blocks'], ['status']])
      evidence.exit(`${args[0]} on an older schema`, await runTimed(world, args), [2], 60_000);
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${last?.hash ?? ''}, ${last?.created_at ?? 0})`;
    evidence.exit('status on its own schema', await runTimed(world, ['status']), [0], 60_000);
  },
};

const configuration: Fault = {
  numbers: [52],
  title: 'configuration broken, or changed while running',
  backends: 'each',
  invariants: ['A', 'E', 'F', 'X'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { evidence } = world;
    const steady = await Steady.start(world);
    await steady.waitUntilRecorded();
    const broken = {
      network: 'moon',
      datasets: { no_such: {} },
      upstreams: { chainData: { url: 'ftp://x' } },
    };
    await world.configure(broken);
    evidence.serve('broken configuration');
    const plan = await runTimed(world, ['plan']);
    evidence.exit('plan with a broken configuration', plan, [2], 60_000);
    for (const path of ['network', 'datasets.no_such', 'upstreams.chainData.url'])
      evidence.indicators.push({
        where: `${path} is named`,
        isVisible: plan.recorder.find(path) !== undefined,
      });
    await steady.expectRecovery('the configuration was broken');
    evidence.claim(
      'the process continues with the old one',
      steady.running.every(({ running }) => running),
    );
    await steady.waitUntilCovered();
    await steady.stop();
  },
};

export const releaseFaults: readonly Fault[] = [migrators, versions, configuration];
