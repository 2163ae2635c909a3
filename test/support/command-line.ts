import { vi } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { commandEnvironment } from './cli.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The result of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  /** Without the lines of the log. */
  readonly stderr: string;
}

/** The folder, the environment and the output are those of the process: commands run one after another. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process, which takes a tenth of the processor time of a separate process (`startCommand`). For
 * commands that are not killed or stopped.
 * @param env its environment of the recorder
 * @param cwd its working directory
 */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<CommandResult> {
  const run = () =>
    asProcess({ LOG_LEVEL: 'silent', ...env }, cwd, async () => {
      const stdout = captureOutput(process.stdout);
      const stderr = captureOutput(process.stderr);
      process.exitCode = 0;
      try {
        await runCommandLine(args);
      } finally {
        stdout.restore();
        stderr.restore();
      }
      const stdoutBytes = stdout.bytes();
      return {
        code: Number(process.exitCode),
        stdout: stdoutBytes.toString(),
        stdoutBytes,
        stderr: stderr.bytes().toString(),
      };
    });
  const result = last.then(run, run);
  last = result;
  return result;
}

/**
 * Runs a command in this process and returns the problems for which it was refused.
 * @throws Error if it was not refused, and every error that is no wrong use
 */
export async function refusalOf(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  try {
    await asProcess(env, cwd, () => commandLine().parseAsync(args, { from: 'user' }));
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  throw new Error(`"${args.join(' ')}" was not refused`);
}

/** Runs an action with an environment and a working directory, and restores those of the process. */
async function asProcess<T>(env: NodeJS.ProcessEnv, cwd: string, work: () => Promise<T>): Promise<T> {
  const before = { env: process.env, cwd: process.cwd(), code: process.exitCode };
  const listening = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  const variables = Object.entries({ ...commandEnvironment(cwd), ...env });
  process.env = Object.fromEntries(variables.filter(([, value]) => value !== undefined));
  process.chdir(cwd);
  try {
    return await work();
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    process.exitCode = before.code;
    for (const signal of SIGNALS)
      for (const listener of process.listeners(signal))
        if (!listening.get(signal)?.includes(listener)) process.removeListener(signal, listener);
  }
}

/** Collects the output to a stream of the process, instead of writing it. */
function captureOutput(stream: NodeJS.WriteStream) {
  const chunks: Buffer[] = [];
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk, encoding, callback) => {
    chunks.push(Buffer.from(chunk));
    const done = typeof encoding === 'function' ? encoding : callback;
    done?.();
    return true;
  });
  return { restore: () => spy.mockRestore(), bytes: () => Buffer.concat(chunks) };
}
