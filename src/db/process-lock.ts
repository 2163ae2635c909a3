import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * When a process started, in the system's own count (`alive` where the system has none); undefined when it does not
 * run. It distinguishes a process from a later one with the same number: in a container every start is process 1.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return signalReaches(pid) ? 'alive' : undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the command's name and may hold anything, so count from its closing bracket.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ended = fields?.[0] === 'Z' || fields?.[0] === 'X';
  return ended ? undefined : fields?.[19];
}

/**
 * Enters this process in a register: a folder with one empty file a process, named after it. The entry of a process that
 * ended does not count, however it ended.
 * @returns a function that removes the entry
 * @throws errors of the file system
 */
export async function enrol(register: string): Promise<() => Promise<void>> {
  await mkdir(register, { recursive: true });
  const start = await processStart(process.pid);
  const entry = join(register, `${process.pid}-${start}-${randomUUID()}`);
  await writeFile(entry, '', { flag: 'wx' });
  return () => rm(entry, { force: true });
}

/** The numbers of the processes in a register that still run; the entries of dead ones are removed. */
export async function enrolled(register: string): Promise<number[]> {
  const names = await readdir(register).catch(() => []);
  const pids = await Promise.all(
    names.map(async (name) => {
      const [pid, start] = name.split('-');
      if ((await processStart(Number(pid))) === start) return Number(pid);
      await rm(join(register, name), { force: true });
      return undefined;
    }),
  );
  return pids.filter((pid) => pid !== undefined);
}

/**
 * Runs `work` while no other process does so under the same register, and returns its result. A process that was killed
 * holds nothing.
 * @throws Error when it waited for `patience` milliseconds; errors of `work`
 *
 * A process that enters and then sees no other holds the lock. Of two that enter at once, at least one sees the other
 * and leaves. So no process ever has to break the lock of a dead one.
 */
export async function withProcessLock<T>(
  register: string,
  work: () => Promise<T>,
  patience = 120_000,
): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    const leave = await enrol(register);
    const holders = await enrolled(register);
    if (holders.length === 1) return await work().finally(leave);
    await leave();
    if (Date.now() > deadline) {
      const others = holders.filter((pid) => pid !== process.pid);
      throw new Error(`waited too long for ${register}, which process ${others} holds`);
    }
    await wait(20 + Math.random() * 60);
  }
}

function signalReaches(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
