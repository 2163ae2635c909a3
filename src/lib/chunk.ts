import { setImmediate } from 'node:timers/promises';

/** Splits a list into chunks of at most `size` items and keeps the order. */
export function splitIntoChunks<T>(items: readonly T[], size: number): T[][] {
  const count = items.length === 0 ? 0 : Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/**
 * Yields the chunks of {@link splitIntoChunks}. Returns to the event loop after each chunk, so that other work is not
 * blocked.
 */
export async function* yieldChunks<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (const part of splitIntoChunks(items, size)) {
    yield part;
    await setImmediate();
  }
}
