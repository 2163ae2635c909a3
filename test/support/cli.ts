import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command under way. */
export interface Running {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
}

const CLI = resolve(import.meta.dirname, '../../src/cli.ts');
const LOADER = import.meta.resolve('tsx');

/**
 * Starts a command of the command line in a process of its own, from the sources.
 * @param env what it has of the recorder's environment; it inherits none of it
 */
export function startCommand(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Running {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--import', LOADER, CLI, ...args], {
    cwd,
    env: { PATH, HOME, TMPDIR, LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([, stdout, stderr]) => ({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
  );
  return { process: child, ended };
}
