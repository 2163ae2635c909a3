import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY = 100;

/**
 * Waits for a condition.
 * @param what description for the error
 * @param most milliseconds
 * @returns the first value that is neither false, null nor undefined. @throws Error if there is none in time
 */
export async function until<T>(what: string, look: () => T | Promise<T>, most = 60_000): Promise<T & {}> {
  const deadline = performance.now() + most;
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`waited ${most} ms for ${what}`);
    await delay(LOOK_EVERY);
  }
}

/** Like `until`, for calls that may fail during a fault: an error counts as not yet. */
export async function eventually<T>(what: string, look: () => Promise<T>, most = 60_000) {
  return until(what, () => look().catch(() => null), most);
}
