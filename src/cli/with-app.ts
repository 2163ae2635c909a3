import type { App, AppOptions } from '../app/app.ts';
import { exitCode } from '../app/exit-code.ts';
import { limitHeapGrowth } from '../daemon/heap.ts';
import { InterruptedError } from '../lib/errors.ts';

/** Timeout of a stop after the first signal, in ms. After the timeout, the process exits with a failure. */
const STOP_TIMEOUT_MS = 19_000;

/** Returns a signal that aborts on SIGTERM or SIGINT. Further signals have no effect. */
export function createStopSignal(): AbortSignal {
  const stop = new AbortController();
  const requestStop = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => {
      process.stderr.write(
        `chain-recorder did not stop within ${STOP_TIMEOUT_MS / 1000} s: the process exits\n`,
      );
      process.exit(exitCode.failed);
    }, STOP_TIMEOUT_MS).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, requestStop);
  return stop.signal;
}

/**
 * Opens the application for a command, and closes it after the work.
 * @param options `wait`: wait for an unavailable database until the process is stopped
 * @param work the command; its result is the exit code of the process
 * @throws errors of opening and of the work; InterruptedError if the error is the reason of the aborted signal
 */
export async function withApp(
  options: AppOptions & { readonly wait?: boolean },
  work: (app: App, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const signal = createStopSignal();
  const { openApp } = await import('../app/app.ts');
  const app = await openApp({ ...options, signal, ...(options.wait && { waitSignal: signal }) }).catch(
    (error: unknown) => {
      if (options.wait && signal.aborted) return null; // stopped while waiting
      throw error;
    },
  );
  if (!app) return;
  limitHeapGrowth();
  try {
    process.exitCode = await work(app, signal);
  } catch (error) {
    throw signal.aborted && error === signal.reason ? new InterruptedError({ cause: error }) : error;
  } finally {
    await app.close();
  }
}
