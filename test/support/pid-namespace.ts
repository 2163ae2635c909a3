import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Namespaces of their own for processes and shared memory, as a container has them. All ends with the command. */
const UNSHARE = ['--pid', '--ipc', '--fork', '--mount-proc', '--kill-child=SIGKILL'];

/** Whether this system lets the tests make PID namespaces. */
export const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0;

/** How a command in a namespace ended, or that it is served. */
export interface NamespaceUser {
  readonly child: ChildProcessWithoutNullStreams;
  /** The line that the command printed; null: it ended without one. */
  readonly line: string | null;
  /** What the command wrote to stderr until it ended. */
  readonly errors: Promise<string>;
  /** Ends every process of the namespace at once. */
  kill(): Promise<void>;
  /** Closes the standard input, and waits for the end. Returns the exit code. */
  close(): Promise<number | null>;
}

/**
 * Starts a user of the embedded server in a PID namespace of its own, and waits until it is served or ends.
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
