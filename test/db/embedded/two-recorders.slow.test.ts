import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts';
import { connect } from '../../../src/db/connect.ts';
import { findFreePort } from '../../../src/db/embedded/free-port.ts';
import { embeddedHome } from '../../../src/db/embedded/home.ts';
import { isServerAlive } from '../../../src/db/embedded/server.ts';
import { type Ended, type Running, startCommand } from '../../support/cli.ts';
import { canUnshare, inPidNamespace, signalNamespace } from '../../support/pid-namespace.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Number of kills. For a release: ROUNDS=50 npx vitest run test/db/embedded/two-recorders.slow.test.ts */
const ROUNDS = Number(process.env.ROUNDS ?? 6);
/** Commands that are started beside the recorders, one a round, and the output of each if it is served. */
const COMMANDS = [
  [['query', 'select count(*) as runs from reporting.runs'], /^runs\n/],
  [['status'], /chain_heights/],
  [['migrate'], /^the database is up to date$/m],
  [['doctor', '--json'], /^\[/],
  [['export', 'chain_heights', '--to', 'lake'], /./],
] as const;
/** Exit codes of `status` and `doctor` that report a problem of the recording, not a refusal. */
const REPORTS = new Set(['status', 'doctor']);
const log = { info: () => {}, warn: () => {} };

/** A recorder in its own PID namespace. */
interface Recorder {
  readonly running: Running;
  readonly port: number;
}

let sandbox: Sandbox;
const dir = temporaryFolder('two-recorders');
const recorders = new Set<Recorder>();

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false });
  chmodSync(dir, 0o755); // as root the server runs as another user
  const nodes = sandbox.watch.nodes.slice(0, 2).map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const datasets = { chain_heights: { every: '5s' }, node_health: { every: '5s' } };
  writeFileSync(
    join(dir, 'recorder.yaml'),
    stringify({ network: 'sandbox', upstreams: { nodes }, datasets }),
  );
});
afterAll(async () => {
  for (const { running } of recorders) running.process.kill('SIGKILL');
  await sandbox.close();
  const home = await embeddedHome(join(dir, '.recorder'), log);
  await vi.waitUntil(() => !isServerAlive(home), { timeout: 15_000 });
  rmSync(home.path, { recursive: true, force: true });
});

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  startCommand(args, { LOG_LEVEL: 'warn', ...env }, dir, undefined, inPidNamespace);

async function startRecorder(): Promise<Recorder> {
  const port = await findFreePort();
  const running = start(['up'], { RECORDER_PORT: String(port) });
  const recorder = { running, port };
  recorders.add(recorder);
  return recorder;
}

async function isReady({ port }: Recorder): Promise<boolean> {
  const response = await request(`http://127.0.0.1:${port}/ready`).catch(() => null);
  await response?.body.dump();
  return response?.statusCode === 200;
}

/** Waits until a recorder is ready, or ended. Returns its exit, or null. */
async function waitUntilServed(recorder: Recorder): Promise<Ended | null> {
  let ended: Ended | null = null;
  void recorder.running.ended.then((end) => {
    ended = end;
  });
  await expect
    .poll(async () => ended !== null || (await isReady(recorder)), { timeout: 90_000, interval: 100 })
    .toBe(true);
  return ended;
}

async function kill(recorder: Recorder): Promise<void> {
  recorder.running.process.kill('SIGKILL');
  await recorder.running.ended;
  recorders.delete(recorder);
}

/** Returns whether a command was served. A refusal names its reason and has the exit code 2 or 75. */
function isServed([name = '']: readonly string[], served: RegExp, { code, stdout, stderr }: Ended): boolean {
  if (code === 0 || (code === 1 && REPORTS.has(name) && served.test(stdout))) {
    expect(stdout + stderr).toMatch(served);
    return true;
  }
  expect({ name, code, stderr }).toEqual({
    name,
    code: expect.toSatisfy((one) => one === 2 || one === 75),
    stderr: expect.stringMatching(/\S/),
  });
  return false;
}

describe.skipIf(!canUnshare)('two recorders in two PID namespaces on one directory', () => {
  it(
    `lose no commit and no recorded run in ${ROUNDS} rounds with kills of either`,
    async () => {
      const both: Recorder[] = [];
      for (let place = 0; place < 2; place++) {
        const recorder = await startRecorder();
        expect(await waitUntilServed(recorder)).toBe(null);
        both.push(recorder);
      }
      const home = await embeddedHome(join(dir, '.recorder'), log);
      const [password, port] = ['password', 'port'].map((name) =>
        readFileSync(join(home.path, name), 'utf8').trim(),
      );
      const sql = connect(`postgres://recorder:${password}@127.0.0.1:${port}/recorder`, 10_000, {
        max: 1,
        onnotice: () => {},
        connect_timeout: 5,
      });
      await sql`create table public.committed (n int primary key)`;
      const runs = async () =>
        (await sql<{ id: number }[]>`select run_id as id from reporting.runs where status = 'done'`).map(
          ({ id }) => id,
        );
      const over = new AbortController();
      let acknowledged = 0;
      const committing = (async () => {
        while (!over.signal.aborted)
          await sql`insert into public.committed values (${acknowledged}) on conflict do nothing`.then(
            () => (acknowledged += 1),
            () => {},
          );
      })();
      const outcomes = { served: 0, refused: 0, restarts: 0 };
      const refusals = new Set<string>();
      let runIds: readonly number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        runIds = [...new Set([...runIds, ...(await runs().catch(() => []))])];
        const [args, served] = COMMANDS[round % COMMANDS.length] ?? COMMANDS[0];
        const command = start(args);
        const place = round % 2;
        const victim = both[place];
        if (victim) await kill(victim);
        const again = await startRecorder();
        const end = await waitUntilServed(again);
        expect(end && { ...end, round }).toBe(null);
        both[place] = again;
        outcomes.restarts += 1;
        const ended = await command.ended;
        const isOne = isServed(args, served, ended);
        outcomes[isOne ? 'served' : 'refused'] += 1;
        if (!isOne) refusals.add(`${args[0]}: ${ended.code} ${ended.stderr.trim()}`);
        // The other recorder was served throughout, or is again.
        for (const one of both) await expect.poll(() => isReady(one), { timeout: 60_000 }).toBe(true);
      }
      over.abort();
      await committing;
      const [row] = await sql<{ n: number }[]>`select count(*)::int as n from public.committed`;
      expect(row?.n).toBeGreaterThanOrEqual(acknowledged);
      expect(row?.n).toBeLessThanOrEqual(acknowledged + 1);
      const kept = new Set(await runs());
      expect(runIds.filter((id) => !kept.has(id))).toEqual([]);
      await sql.end({ timeout: 1 });
      console.log(`${ROUNDS} rounds: ${acknowledged} commits, ${kept.size} runs`, outcomes, [...refusals]);
      for (const one of both) {
        signalNamespace(one.running.process, 'SIGTERM');
        const { code, stderr } = await one.running.ended;
        expect(code, stderr).toBe(0);
        recorders.delete(one);
      }
      expect(isServerAlive(home)).toBe(false);
      const logs = ['postgres.log', 'postgres.log.1'].map((name) =>
        readFileSync(join(home.path, name), 'utf8'),
      );
      expect(logs.join('\n')).not.toMatch(
        /PANIC|checksum|could not locate a valid checkpoint|invalid record length at 0\/0/,
      );
    },
    120_000 + ROUNDS * 60_000,
  );
});
