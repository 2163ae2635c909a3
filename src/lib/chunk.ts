import { setImmediate } from 'node:timers/promises';

/** Cuts a list into parts of at most `size`, in its order. */
export function inParts<T>(items: readonly T[], size: number): T[][] {
  const count = items.length === 0 ? 0 : Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** As {@link inParts}, and after each part whatever else waits in this process has its turn. */
export async function* byTurns<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (const part of inParts(items, size)) {
    yield part;
    await setImmediate();
  }
}
