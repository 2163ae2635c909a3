import { setTimeout as delay } from 'node:timers/promises';

const CHECK_INTERVAL_MS = 100;

/**
 * Waits for a condition.
 * @param what description for the error
 * @param timeoutMs milliseconds
 * @returns the first value that is neither false, null nor undefined. @throws Error if there is none in time
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<T & {}> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found !== false && found !== null && found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await delay(CHECK_INTERVAL_MS);
  }
}

/** Like `until`, for calls that may fail during a fault: an error counts as not yet. */
export async function eventually<T>(what: string, check: () => Promise<T>, timeoutMs = 60_000) {
  return until(what, () => check().catch(() => null), timeoutMs);
}
