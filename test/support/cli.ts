import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

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

/**
 * Starts a command of the command line in a process of its own.
 * @param env what it has of the recorder's environment; it inherits none of it
 * @param reader what reads its stdout, in a shell: the end is the command's, the output is the reader's; absent: the caller
 * @param before what stands before it on its own command line, such as a program that starts it with fewer rights
 * @param cli file of the command line. Default: the one that was compiled for this test run
 */
export function startCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  reader?: string,
  before: readonly string[] = [],
  cli = inject('cli'),
): Running {
  const command = [...before, process.execPath, cli, ...args];
  const shell = ['bash', '-c', `"$@" | { ${reader}; }; exit "\${PIPESTATUS[0]}"`, 'bash', ...command];
  const [file = '', ...rest] = reader === undefined ? command : shell;
  const child = spawn(file, rest, {
    cwd,
    env: { ...commandEnvironment(cwd), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([, stdout, stderr]) => ({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
  );
  return { process: child, ended };
}

/**
 * The environment of a command: nothing of this process's own, a port that is free, and what it remembers of its user in the
 * test's directory.
 */
export function commandEnvironment(cwd: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  const XDG_STATE_HOME = resolve(cwd, '.state');
  return { PATH, HOME, TMPDIR, XDG_STATE_HOME, LOG_LEVEL: 'info', RECORDER_PORT: '0' };
}
