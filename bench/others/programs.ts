import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Path of a program; null: it is not installed. Daemons are also searched outside of PATH. */
export async function findProgram(name: string): Promise<string | null> {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'])
    if (
      await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return join(folder, name);
  return null;
}

/** Runs a program to its end. @returns its output @throws Error with its output if it fails, or the signal aborts */
export async function runProgram(
  path: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { stdout } = await promisify(execFile)(path, [...args], { signal, maxBuffer: 256 * 1024 * 1024 });
  return stdout;
}

/** An external program that runs until it is stopped, or the signal aborts. */
export class Program {
  readonly #process: ChildProcess;

  constructor(path: string, args: readonly string[], signal: AbortSignal) {
    this.#process = spawn(path, [...args], { signal, stdio: 'ignore' });
    this.#process.on('error', () => {}); // that of the signal; a program that does not start does not respond
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Stops it with SIGTERM, and waits for its end. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#process.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(killTimer);
  }
}

/** Waits until a condition is true. @throws Error with its name after a minute */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | null>,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await check().catch(() => null);
    if (found !== null) return found;
    await delay(200, undefined, { signal });
  }
  throw new Error(`${what} was not there after a minute`);
}
