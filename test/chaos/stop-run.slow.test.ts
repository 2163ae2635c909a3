import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = resolve(import.meta.dirname, '../../chaos/main.ts');
const scratch = temporaryFolder('chaos-stopped');
chmodSync(scratch, 0o755); // as root its server runs as another user
let run: ChildProcess | null = null;
afterAll(() => {
  run?.kill('SIGKILL');
});

/** The command lines of processes that work in the run's folder, or have it as an argument. */
function itsProcesses(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return `${readlinkSync(`/proc/${pid}/cwd`)} ${line}`.includes(scratch) ? [line] : [];
      } catch {
        return []; // it has ended
      }
    });
}

it.skipIf(process.platform !== 'linux')(
  'leaves neither a process nor a file after a run is stopped',
  async () => {
    run = spawn(process.execPath, ['--import', 'tsx', main, '--faults', '1', '--backend', 'postgres'], {
      env: { ...process.env, TMPDIR: scratch },
      stdio: 'ignore',
    });
    // It is killed while its server starts: then the run does not yet know the process to end.
    const servers = () => itsProcesses().filter((line) => /\bpostgres -D /.test(line));
    await expect.poll(servers, { timeout: 100_000 }).not.toEqual([]);
    const ended = once(run, 'exit');
    run.kill('SIGTERM');
    expect(await ended).toEqual([130, null]);
    expect(itsProcesses()).toEqual([]);
    expect(readdirSync(scratch).filter((name) => name.startsWith('chaos-'))).toEqual([]);
  },
);
