import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { lockRow } from '../../src/db/row-lock.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { it, database, sql } = withDatabase();
/** Timeout of a process that neither ends nor prints the expected text. */
const MAX_WAIT_MS = 120_000;
let sandbox: Sandbox;
const dir = temporaryFolder('ending');
const running = new Set<Running>();

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false, blocksPerHour: 60 });
  const config = {
    network: 'sandbox',
    upstreams: { chainData: { url: sandbox.url } },
    watch: { nodeIds: sandbox.watch.nodeIds.slice(0, 1) },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
});
afterAll(async () => {
  for (const { process } of running) process.kill('SIGKILL'); // those of a test that failed
  await sandbox.close();
});

/** @param reader shell command that reads its stdout. Default: the test */
function start(args: readonly string[], reader?: string): Running {
  const command = startCommand(args, { DATABASE_URL: database.url }, dir, reader);
  running.add(command);
  return command;
}

it('a cancelled query is reported as cancelled, not as a timeout', async () => {
  const { process, ended } = start(['query', 'select pg_sleep(60)']);
  await expect
    .poll(() => sql`select from pg_stat_activity where wait_event = 'PgSleep' and query like '%next_rows%'`, {
      timeout: MAX_WAIT_MS,
    })
    .toHaveLength(1);
  process.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 75,
    stdout: '',
    stderr: 'interrupted: run the same command again\n',
  });
});

describe.concurrent('a reader of the output', () => {
  it.each([
    ['datasets', []],
    ['datasets', ['--json']],
    ['coverage', ['proposed_blocks', '--json']],
  ])('that closes the pipe after a line causes no failure: %s %j', async (command, args) => {
    await longCoverage();
    // The shell returns the exit code of the command.
    const { code, stdout, stderr } = await start([command, ...args], 'head -1').ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toHaveLength(2);
  });

  it('that is slow receives all of a long output', async () => {
    await longCoverage();
    const { code, stdout } = await start(
      ['coverage', 'proposed_blocks', '--json'],
      'while head -c 100000 | grep -z .; do sleep 0.1; done',
    ).ended;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(1_000_000);
    expect(JSON.parse(stdout.replaceAll('\0', '')).ranges).toHaveLength(10_000);
  });

  async function longCoverage(): Promise<void> {
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      select 'proposed_blocks', 'many', 'time', range_agg(int8range(n * 100000, n * 100000 + 50000))
      from generate_series(1, 10000) n on conflict do nothing`;
  }
});

it.skipIf(process.platform !== 'linux')(
  'a full disk is reported in a sentence, and fails the command',
  async () => {
    const command = [process.execPath, inject('cli'), 'datasets'];
    const full = spawnSync('bash', ['-c', '"$@" > /dev/full', 'bash', ...command], {
      cwd: dir,
      encoding: 'utf8',
    });
    expect(full.status).toBe(1);
    expect(full.stderr).toMatch(/^chain-recorder failed: its output cannot be written: ENOSPC.*\n$/);
  },
);

describe('a command that receives SIGTERM', () => {
  it('exits 75 and explains how to continue if it is an unfinished backfill', async () => {
    const range = ['--from', '2026-01-01', '--to', '2026-03-01', '--target', 'blockchainId=p-chain'];
    const backfill = start(['backfill', 'proposed_blocks', ...range, '--json']);
    await expect
      .poll(async () => (await sql`select from recorder.proposed_blocks limit 1`).length, {
        interval: 5,
        timeout: MAX_WAIT_MS,
      })
      .toBe(1);
    backfill.process.kill('SIGINT');
    const { code, stdout, stderr } = await backfill.ended;
    expect(code, stderr).toBe(75);
    expect(JSON.parse(stdout).left).toBeGreaterThan(0);
    expect(stderr).toContain('run the same command again');
  });

  it('ends at once and exits 75 if it is a waiting migration', async () => {
    const other = postgres(database.url, { max: 1 });
    await other.unsafe(`begin; ${lockRow('migrate')}`);
    const migrate = start(['migrate']);
    await expect
      .poll(async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting.length;
      })
      .toBe(1);
    migrate.process.kill('SIGTERM');
    migrate.process.kill('SIGTERM');
    const { code, stderr } = await migrate.ended;
    expect(code).toBe(75);
    expect(stderr).toContain('interrupted');
    await other.end({ timeout: 1 });
  });
});

describe.concurrent('a process of up', () => {
  it.each(['scheduler', 'worker', 'server'])(
    'reports its heartbeat, also with the role %s alone',
    async (role) => {
      const up = start(['up', '--roles', role]);
      // The first heartbeat is its start. Without a second one the process is considered dead.
      const secondSign = expect
        .poll(
          () =>
            sql`select from reporting_internal.processes where roles = ${[role]}::text[] and seen_at > started_at`,
          { timeout: MAX_WAIT_MS },
        )
        .toHaveLength(1);
      const ended = up.ended.then(({ stderr }) => stderr);
      expect(await Promise.race([secondSign.then(() => 'lives'), ended])).toBe('lives');
      up.process.kill('SIGTERM');
      expect((await up.ended).code).toBe(0);
    },
  );
});
