import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/** The result of a command. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
}

/**
 * Starts a command of the command line in its own process.
 * @param env the recorder's environment; nothing is inherited
 * @param reader shell command that reads its stdout: the exit code is the command's, the output is the reader's.
 * Default: the caller
 * @param before prefix of its command line, such as a program that starts it with fewer rights
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
 * The environment of a command: nothing of this process, a free port, and the state of its user in the test's
 * directory.
 */
export function commandEnvironment(cwd: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  const XDG_STATE_HOME = resolve(cwd, '.state');
  return { PATH, HOME, TMPDIR, XDG_STATE_HOME, LOG_LEVEL: 'info', RECORDER_PORT: '0' };
}
