import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for work, but at most for a timeout in ms.
 * @throws any error of the work before the timeout
 */
export async function withTimeout(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(milliseconds, undefined, { ref: false })]);
}
