import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KnownRecords } from '../../src/app/known-records.ts';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import { type Running, startCommand } from '../support/cli.ts';

let dir: string;
const running = new Set<Running>();

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'recorder-first-'));
  chmodSync(dir, 0o755); // as root the server runs as another user
  writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n');
});
afterAll(async () => {
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

describe('a folder without a record', () => {
  const inState = () => ({ XDG_STATE_HOME: join(dir, 'state') });

  it('gets one at the first start, which reports the last other record', async () => {
    const last = join(dir, 'elsewhere/.recorder');
    mkdirSync(join(last, 'postgres'), { recursive: true });
    new KnownRecords(inState().XDG_STATE_HOME).remember(last);
    const first = await start(['query', 'select 42 as answer'], inState());
    expect(first).toMatchObject({ code: 0, stdout: 'answer\n    42\n' });
    // The only output beside the answer.
    expect(JSON.parse(first.stderr)).toMatchObject({ here: dir, last: dirname(last) });
    expect(new KnownRecords(inState().XDG_STATE_HOME).last(last)).toBe(join(dir, '.recorder'));
  });

  it('prints only the answer of later starts', async () => {
    expect(await start(['migrate'], inState())).toMatchObject({
      code: 0,
      stdout: 'the database is up to date\n',
      stderr: '',
    });
  });

  it('reports the address of its database for other programs, and not the password', async () => {
    const { stdout } = await start(['doctor', '--json'], inState());
    const password = readFileSync(join(dir, '.recorder/postgres/password'), 'utf8');
    expect(stdout).toMatch(
      /postgres:\/\/recorder@127\.0\.0\.1:\d+\/recorder, with the password in .*password"/,
    );
    expect(stdout).not.toContain(password);
  });
});
