import { setTimeout as delay } from 'node:timers/promises';

/** Waits for work, but no longer than so many milliseconds. @throws what the work throws meanwhile */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(milliseconds, undefined, { ref: false })]);
}
