import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const main = resolve(import.meta.dirname, '../../chaos/main.ts');
const scratch = mkdtempSync(join(tmpdir(), 'chaos-stopped-'));
let run: ChildProcess | null = null;
afterAll(() => {
  run?.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** The command lines of processes whose arguments or environment name the run's own folder. */
function itsProcesses(): string[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1');
    } catch {
      return ''; // it has ended
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && `${read(pid, 'cmdline')}${read(pid, 'environ')}`.includes(scratch))
    .map((pid) => read(pid, 'cmdline').replaceAll('\0', ' '))
    .filter((line) => line !== '');
}

it.skipIf(process.platform !== 'linux')(
  'a run that is stopped leaves neither a process nor a file',
  async () => {
    run = spawn(process.execPath, ['--import', 'tsx', main, '--faults', '1', '--backend', 'postgres'], {
      env: { ...process.env, TMPDIR: scratch },
      stdio: 'ignore',
    });
    // While its server is being started, which is when the run does not yet know what it has to end.
    const servers = () => itsProcesses().filter((line) => line.includes('postgres'));
    await expect.poll(servers, { timeout: 100_000 }).not.toEqual([]);
    const ended = once(run, 'exit');
    run.kill('SIGTERM');
    expect(await ended).toEqual([130, null]);
    expect(itsProcesses()).toEqual([]);
    expect(readdirSync(scratch).filter((name) => name.startsWith('chaos-'))).toEqual([]);
  },
  150_000,
);
