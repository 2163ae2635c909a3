import { vi } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { UsageError } from '../../src/lib/errors.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a command in this process and returns the problems for which it was refused. One at a time: the folder and the
 * environment are those of the process. A process of its own (`startCommand`) prints these and exits with 2.
 * @throws Error if it was not refused, and every error that is no wrong use
 */
export async function refusalOf(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const before = process.cwd();
  const listening = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  process.chdir(cwd);
  try {
    await commandLine().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  } finally {
    process.chdir(before);
    vi.unstubAllEnvs();
    for (const signal of SIGNALS)
      for (const listener of process.listeners(signal))
        if (!listening.get(signal)?.includes(listener)) process.removeListener(signal, listener);
  }
  throw new Error(`"${args.join(' ')}" was not refused`);
}
