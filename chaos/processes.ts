import { readdir, readFile } from 'node:fs/promises';

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The processes whose parent is `pid` (Linux). */
export async function childrenOf(pid: number): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    names.map(async (name) => {
      const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
      return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0) === pid ? [Number(name)] : [];
    }),
  );
  return parents.flat();
}

/** Maximum memory of a process so far, in MiB (Linux); 0 once it ended. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}

/** The command line of a process (Linux), as every user of the machine can read it. */
export async function argumentsOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
