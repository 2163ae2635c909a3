import type { App, AppOptions } from '../app/app.ts';
import { exitCode } from '../app/exit-code.ts';
import { giveYoungRoom, growHeapSlowly } from '../daemon/heap.ts';
import { Interrupted } from '../lib/errors.ts';

/** Timeout of a stop after the first signal, in ms. Then the process exits with a failure. */
const LONGEST_STOP = 19_000;

/** Returns a signal that aborts on SIGTERM or SIGINT. Further signals have no effect. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const ask = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => {
      process.stderr.write(`chain-recorder did not stop within ${LONGEST_STOP / 1000} s and was ended\n`);
      process.exit(exitCode.failed);
    }, LONGEST_STOP).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, ask);
  return stop.signal;
}

/**
 * Opens the application for a command, and closes it after the work.
 * @param options `wait`: wait for an unavailable database until the process is stopped
 * @param work the command; its result is the exit code of the process
 * @throws errors of opening and of the work; Interrupted if the error is the reason of the aborted signal
 */
export async function withApp(
  options: AppOptions & { readonly wait?: boolean },
  work: (app: App, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const signal = stopSignal();
  const { openApp } = await import('../app/app.ts');
  const app = await openApp({ ...options, signal, ...(options.wait && { patient: signal }) }).catch(
    (error: unknown) => {
      if (options.wait && signal.aborted) return null; // stopped while waiting
      throw error;
    },
  );
  if (!app) return;
  growHeapSlowly();
  if (!options.wait) giveYoungRoom();
  try {
    process.exitCode = await work(app, signal);
  } catch (error) {
    throw signal.aborted && error === signal.reason ? new Interrupted({ cause: error }) : error;
  } finally {
    await app.close();
  }
}
