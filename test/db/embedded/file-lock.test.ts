import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FileLock, isLocked, withFileLock } from '../../../src/db/embedded/file-lock.ts';
import { canUnshare } from '../../support/pid-namespace.ts';

let place: string;
let path: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'file-lock-'));
  path = join(place, 'lock');
});
afterEach(async () => {
  await rm(place, { recursive: true });
});

it('excludes every other lock, and shared ones exclude only exclusive ones', () => {
  const exclusive = FileLock.try(path);
  expect([FileLock.try(path), FileLock.try(path, { shared: true }), isLocked(path)]).toEqual([
    null,
    null,
    true,
  ]);
  exclusive?.release();
  const shared = [FileLock.try(path, { shared: true }), FileLock.try(path, { shared: true })];
  expect(shared.every((lock) => lock !== null)).toBe(true);
  expect([FileLock.try(path), isLocked(path)]).toEqual([null, false]);
  for (const lock of shared) lock?.release();
  expect(FileLock.try(path)).not.toBeNull();
});

it('does not follow a symbolic link, whose target would be truncated and given to another user', async () => {
  const target = join(place, 'target');
  await writeFile(target, 'kept');
  await symlink(target, path);
  await expect(withFileLock(path, async () => {})).rejects.toMatchObject({ code: 'ELOOP' });
  expect(await readFile(target, 'utf8')).toBe('kept');
});

it('admits one holder at a time, and the next after a failure', async () => {
  let inside = 0;
  const work = async (turn: number) => {
    inside += 1;
    await setImmediate();
    expect(inside).toBe(1);
    inside -= 1;
    if (turn === 2) throw new Error('this turn failed');
    return turn;
  };
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((turn) => withFileLock(path, () => work(turn))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

it('times out on a holder that stays, and names it', async () => {
  await withFileLock(path, async () => {
    await expect(withFileLock(path, async () => {}, { timeout: 50 })).rejects.toThrow(
      `by process ${process.pid} on`,
    );
  });
});

it('lasts as long as a process that inherited it, also after its owner ended', async () => {
  const lock = FileLock.try(path);
  const heir = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore', lock?.fd] });
  await once(heir, 'spawn');
  lock?.release();
  expect(isLocked(path)).toBe(true);
  heir.kill('SIGKILL');
  await once(heir, 'exit');
  expect(isLocked(path)).toBe(false);
});

it.skipIf(!canUnshare)('is visible in another PID namespace, where the holder has no process number', () => {
  const program = `
    const { isLocked } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/db/embedded/file-lock.ts'))});
    process.stdout.write(String(isLocked(${JSON.stringify(path)})));`;
  const readIsLocked = () =>
    spawnSync(
      'unshare',
      [
        '--pid',
        '--ipc',
        '--fork',
        '--mount-proc',
        process.execPath,
        '--import',
        'tsx',
        '--input-type=module',
        '-e',
        program,
      ],
      { encoding: 'utf8' },
    ).stdout;
  const lock = FileLock.try(path);
  expect(readIsLocked()).toBe('true');
  lock?.release();
  expect(readIsLocked()).toBe('false');
});
