import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Before } from './bad-places.ts';

/** Separate namespaces of processes and shared memory, as in a container. All processes end with the command. */
const UNSHARE = ['--pid', '--ipc', '--fork', '--mount-proc', '--kill-child=SIGKILL'];

/** Whether this system allows PID namespaces. */
export const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0;

/** Prefix of a command that runs it as process 1 of a separate PID namespace. */
export const inPidNamespace: Before = ['unshare', ...UNSHARE];

/** Sends a signal to process 1 of the namespace of a command with the prefix {@link inPidNamespace}. */
export function signalNamespace(unshare: ChildProcess, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8');
  process.kill(Number(children.trim()), signal);
}

/** The result of a command in a namespace, or that it is served. */
export interface NamespaceUser {
  readonly child: ChildProcessWithoutNullStreams;
  /** The line that the command printed; null: it ended without one. */
  readonly line: string | null;
  /** Output of the command to stderr until it ended. */
  readonly errors: Promise<string>;
  /** Ends every process of the namespace at once. */
  kill(): Promise<void>;
  /** Closes the standard input, and waits for the end. Returns the exit code. */
  close(): Promise<number | null>;
}

/**
 * Starts a user of the embedded server in a separate PID namespace, and waits until it is served or ends.
 * @param more further namespaces, such as `--net`
 */
export async function startInNamespace(dir: string, more: readonly string[] = []): Promise<NamespaceUser> {
  const loader = createRequire(import.meta.url).resolve('tsx');
  const program = join(import.meta.dirname, '../db/embedded-user.ts');
  const command = [...UNSHARE, ...more, process.execPath, '--import', loader, program, dir];
  const child = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const errors = text(child.stderr);
  const first = await Promise.race([once(child.stdout, 'data'), ended]);
  return {
    child,
    line: Buffer.isBuffer(first[0]) ? first[0].toString() : null,
    errors,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      child.stdin.end();
      await ended;
      return child.exitCode;
    },
  };
}
