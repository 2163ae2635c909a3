import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KnownRecords } from '../../src/app/known-records.ts';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import { type Running, startCommand } from '../support/cli.ts';

let dir: string;
const running = new Set<Running>();

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'recorder-first-'));
  chmodSync(dir, 0o755); // as root the server runs as another user
  writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
});
afterEach(async () => {
  for (const { process } of running) process.kill('SIGKILL'); // those of a test that failed
  const quiet = { info: () => {}, warn: () => {} };
  const { path } = await embeddedHome(join(dir, '.recorder'), quiet);
  rmSync(path, { recursive: true, force: true });
  rmSync(dir, { recursive: true });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = startCommand(args, { LOG_LEVEL: undefined, ...env }, dir);
  running.add(command);
  return command.ended;
}

it('reports another record of the user at the first start, and prints only results later', async () => {
  const state = join(dir, 'state');
  const last = join(dir, 'elsewhere/.recorder');
  mkdirSync(join(last, 'postgres'), { recursive: true });
  new KnownRecords(state).remember(last);
  const first = await start(['query', 'select 42 as answer'], { XDG_STATE_HOME: state });
  expect(first).toMatchObject({ code: 0, stdout: 'answer\n    42\n' });
  // Returns the output except the result.
  expect(JSON.parse(first.stderr)).toMatchObject({ here: dir, last: dirname(last) });
  expect(new KnownRecords(state).last(last)).toBe(join(dir, '.recorder'));
  expect(await start(['migrate'], { XDG_STATE_HOME: state })).toMatchObject({
    code: 0,
    stdout: 'the database is up to date\n',
    stderr: '',
  });
  // Other programs can connect: doctor prints the address, without the password.
  const { stdout } = await start(['doctor', '--json'], { XDG_STATE_HOME: state });
  const password = readFileSync(join(dir, '.recorder/postgres/password'), 'utf8');
  expect(stdout).toMatch(
    /postgres:\/\/recorder@127\.0\.0\.1:\d+\/recorder, with the password in .*password"/,
  );
  expect(stdout).not.toContain(password);
});
