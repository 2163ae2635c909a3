import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

/** A text in the statement that commits a page, and in no other. */
export const COMMIT = 'coverage_added as';

/** Enough days that there is always something to heal while the database fails. */
const busy = { blocksPerHour: 60 };

/** Log texts of a process with an internal error. */
const PANIC = /uncaught|unhandled|at process\.process|TypeError|ReferenceError/i;

export function claimNoUncaughtErrors(world: World): void {
  for (const recorder of world.recorders) {
    const line = recorder.lines.find((one) => PANIC.test(one) && !one.startsWith('{'));
    world.evidence.claim(`no uncaught error (${line ?? ''})`, line === undefined);
  }
}

/** @throws Error if a process ended unexpectedly: the test would only time out */
export function requireRunning(steady: Steady): void {
  if (steady.running.some(({ running }) => !running)) throw new Error('a recorder ended on its own');
}

/** Maximum time for a recorder to complete all days after many failures, ms. */
const COMPLETION_TIMEOUT_MS = 300_000;

const terminatedBackends: Fault = {
  numbers: [3],
  title: 'pg_terminate_backend at random',
  backends: 'each',
  invariants: ['A', 'B', 'C'],
  sandbox: busy,
  async inject(world) {
    const { sql, evidence, random, setting } = world;
    const kills = setting.options.kills ?? 30;
    // Enough targets that runs are active most of the time.
    const steady = await Steady.start(world, { days: Math.min(8 + kills / 20, 60) });
    let killed = 0;
    await eventually(
      'a backend to be there to kill',
      async () => {
        await delay(random.unit() * 60);
        const anyState = random.unit() < 0.1;
        const rows = await sql<{ killed: boolean; state: string }[]>`
          select pg_terminate_backend(pid) as killed, state from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and (state = 'active' or ${anyState})
            and application_name <> 'postgres.js'
          order by random() limit 1`;
        for (const { killed: wasKilled, state } of rows) {
          if (!wasKilled) continue;
          killed += 1;
          evidence.serve(`terminated ${state}`);
          if (killed % 50 === 0) process.stderr.write(`  ${killed} backends killed\n`);
        }
        return killed >= kills || steady.running.some(({ running }) => !running);
      },
      kills * 3_000,
    );
    evidence.figures.set('backends killed', killed);
    requireRunning(steady);
    await steady.expectRecovery('the last killed backend');
    await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
    requireRunning(steady);
    claimNoUncaughtErrors(world);
    await steady.stop();
  },
};

const restartDuringCommit: Fault = {
  numbers: [4],
  title: 'PostgreSQL immediate restart during a commit',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: busy,
  async inject(world) {
    const { evidence, proxy, setting } = world;
    const restarts = setting.options.kills ?? 4;
    const steady = await Steady.start(world, { days: 8, proxied: true });
    for (let restart = 0; restart < restarts; restart++) {
      let isCommitSeen = false;
      proxy.decide((statement) => {
        isCommitSeen ||= statement.includes(COMMIT);
        return 'forward';
      });
      await until(
        'a commit under way',
        () => isCommitSeen || !steady.running.every(({ running }) => running),
        COMPLETION_TIMEOUT_MS,
      );
      requireRunning(steady);
      await setting.postgres.crash();
      await setting.postgres.start();
      evidence.serve('immediate restart');
      await steady.expectRecovery('a restart');
      if (restart % 10 === 9) process.stderr.write(`  ${restart + 1} restarts\n`);
    }
    proxy.decide(null);
    evidence.times(
      'fresh again after a restart',
      evidence.recoveries.flatMap(({ elapsedMs }) => elapsedMs ?? []),
    );
    await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
    requireRunning(steady);
    claimNoUncaughtErrors(world);
    await steady.stop();
  },
};

const lostCommitResponse: Fault = {
  numbers: [5],
  title: "the commit's response is lost",
  backends: 'each',
  invariants: ['A', 'B', 'C'],
  sandbox: busy,
  async inject(world) {
    const { evidence, proxy, random, setting } = world;
    const lossCount = setting.options.kills ?? 8;
    let lost = 0;
    proxy.decide((statement) => {
      if (lost >= lossCount || !statement.includes(COMMIT) || random.unit() > 0.4) return 'forward';
      lost += 1;
      evidence.serve('lost answer');
      return 'lose';
    });
    const steady = await Steady.start(world, { days: 8, proxied: true });
    await until('this many responses to be lost', () => lost >= lossCount, lossCount * 20_000);
    await steady.expectRecovery('the last lost answer');
    await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
    requireRunning(steady);
    claimNoUncaughtErrors(world);
    await steady.stop();
  },
};

const frozenDatabase: Fault = {
  numbers: [6],
  title: 'PostgreSQL frozen for 12 s',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: busy,
  async inject(world) {
    const { setting, evidence } = world;
    const steady = await Steady.start(world, { days: 4 });
    await steady.waitUntilRecorded();
    const thaw = await setting.postgres.freeze();
    world.closers.add(thaw);
    await steady.wait(12_000);
    thaw();
    evidence.serve('frozen');
    await steady.expectRecovery('the thaw');
    await steady.waitUntilCovered();
    requireRunning(steady);
    await steady.stop();
  },
};

/** Connections that become silent, selected by their statements. */
function silentConnectionFault(
  title: string,
  backends: Fault['backends'],
  isSelected: (statement: string) => boolean,
): Fault {
  return {
    numbers: [7],
    title,
    backends,
    invariants: ['A', 'B', 'C', 'E'],
    sandbox: busy,
    async inject(world) {
      const { proxy, evidence } = world;
      proxy.decide((statement) => (isSelected(statement) ? 'mark' : 'forward'));
      const steady = await Steady.start(world, { proxied: true });
      await steady.waitUntilRecorded();
      evidence.serve('silent connections', proxy.silenceMarked());
      proxy.decide(null);
      await steady.expectRecovery('the silence');
      await steady.waitUntilCovered();
      requireRunning(steady);
      await steady.stop();
    },
  };
}

/** Migrations, which are long, contain it too. */
const isShortMatch = (pattern: RegExp) => (statement: string) =>
  statement.length < 600 && pattern.test(statement);

const silentListener = silentConnectionFault(
  "the queue's LISTEN connection drops all packets",
  'postgres',
  isShortMatch(/\bLISTEN\s+"?bullmq/i),
);
const silentPool = silentConnectionFault(
  'connections of its pool go to a black hole',
  'postgres',
  isShortMatch(/has_waiting_job|next_delay/),
);
const silentData = silentConnectionFault(
  'connections that commit pages go to a black hole',
  'each',
  (statement) => statement.includes(COMMIT),
);

const unavailableDatabase: Fault = {
  numbers: [8],
  title: 'PostgreSQL down at the start, and for minutes',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'F', 'G', 'H', 'X'],
  sandbox: busy,
  async inject(world) {
    const { setting, evidence, proxy } = world;
    const { postgres, options } = setting;
    const steady = await Steady.prepare(world, { proxied: true });
    await postgres.crash();
    world.closers.add(() => postgres.start().catch(() => {}));
    const up = steady.launch();
    // It waits, with a log message; no restart is needed.
    await steady.wait(8_000);
    evidence.serve('down at the start');
    evidence.claim('up waits for its database', up.running);
    const startedAt = performance.now();
    const status = world.recorder(['status'], { proxied: true });
    const ending = { ...(await status.ended), elapsedMs: performance.now() - startedAt };
    evidence.exit('status without its database', ending, [1, 75], 60_000);
    await postgres.start();
    await up.waitForLog('recording started');
    await steady.waitUntilRecorded();
    await postgres.crash();
    const minutes = options.kills === null ? 0.6 : 5;
    const opened = proxy.opened;
    const lines = up.lineCount;
    await steady.wait(minutes * 60_000);
    const { code } = await world.recorder(['status'], { proxied: true }).ended;
    evidence.indicators.push({
      where: 'status without the database fails',
      isVisible: code === 1 || code === 75,
    });
    evidence.bound('connections tried a minute', (proxy.opened - opened) / minutes, 600);
    evidence.bound('log lines a minute', (up.lineCount - lines) / minutes, 200);
    await postgres.start();
    evidence.serve(`down for ${minutes} minutes`);
    await steady.expectRecovery('PostgreSQL came back');
    await steady.waitUntilCovered();
    requireRunning(steady);
    claimNoUncaughtErrors(world);
    await steady.stop();
  },
};

const exhaustedConnections: Fault = {
  numbers: [48],
  title: 'all connections taken',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: busy,
  async inject(world) {
    const { sql, evidence } = world;
    const steady = await Steady.start(world, { days: 4 });
    await steady.waitUntilRecorded();
    const [row] = await sql<{ name: string }[]>`select current_database() as name`;
    const name = row?.name ?? '';
    // The role is a superuser, which no limit of the database applies to: the server itself must be full.
    const clients = await openAllConnections(world);
    await sql.unsafe(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${name}' and application_name like 'chain-recorder%'`);
    clients.push(...(await openAllConnections(world)));
    evidence.serve('connections taken', clients.length);
    await steady.wait(15_000);
    await Promise.all(clients.map((client) => client.end({ timeout: 1 })));
    await steady.expectRecovery('connections were free again');
    await steady.waitUntilCovered();
    requireRunning(steady);
    claimNoUncaughtErrors(world);
    await steady.stop();
  },
};

/** Opens connections until the server refuses. */
async function openAllConnections({ databaseUrl }: World): Promise<postgres.Sql[]> {
  const clients: postgres.Sql[] = [];
  for (;;) {
    const client = postgres(databaseUrl, { max: 1, onnotice: () => {}, connect_timeout: 5 });
    try {
      await client`select 1`;
      clients.push(client);
    } catch {
      await client.end({ timeout: 1 }).catch(() => {});
      return clients;
    }
  }
}

const diskFull: Fault = {
  numbers: [47],
  title: 'disk full under PostgreSQL',
  backends: 'any',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: { blocksPerHour: 240 },
  async inject(world) {
    const { sql, evidence } = world;
    const disk = await smallDisk(world);
    const name = `small_${world.dir.slice(-6).toLowerCase()}`.replaceAll(/\W/g, '_');
    await sql.unsafe(`create tablespace ${name} location '${disk}'`);
    world.closers.add(async () => {
      await sql.unsafe('alter table recorder.proposed_blocks set tablespace pg_default');
      await sql.unsafe('alter index recorder.proposed_blocks_key set tablespace pg_default');
      await sql.unsafe(`drop tablespace ${name}`);
    });
    await sql.unsafe(`alter table recorder.proposed_blocks set tablespace ${name}`);
    await sql.unsafe(`alter index recorder.proposed_blocks_key set tablespace ${name}`);
    const steady = await Steady.start(world, { days: 6 });
    const full = await eventually(
      'the disk to be full',
      async () => {
        const [row] = await sql<
          { n: number }[]
        >`select count(*)::int as n from recorder.runs where status in ('lost', 'running')`;
        return steady.running[0]?.find('No space left') !== undefined || (row?.n ?? 0) > 12;
      },
      180_000,
    );
    evidence.serve('disk full', full ? 1 : 0);
    await run('mount', ['-o', 'remount,size=2g', disk]);
    await steady.expectRecovery('there was room');
    await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
    requireRunning(steady);
    await steady.stop();
  },
};

/** A file system of 24 MiB that PostgreSQL may write to. @throws Error if this process may not mount one */
async function smallDisk({ dir, setting, closers }: World): Promise<string> {
  const disk = `${setting.postgres.data}-disk-${dir.slice(-6)}`;
  await mkdir(disk);
  const { uid, gid } = await stat(setting.postgres.data);
  await run('mount', ['-t', 'tmpfs', '-o', `size=24m,uid=${uid},gid=${gid},mode=0700`, 'tmpfs', disk]);
  closers.add(() => run('umount', ['-l', disk]));
  return disk;
}

export const databaseFaults: readonly Fault[] = [
  terminatedBackends,
  restartDuringCommit,
  lostCommitResponse,
  frozenDatabase,
  silentListener,
  silentPool,
  silentData,
  unavailableDatabase,
  diskFull,
  exhaustedConnections,
];
