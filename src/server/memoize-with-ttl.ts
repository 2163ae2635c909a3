/** A cached result and its expiry. */
interface CachedResult<T> {
  readonly answer: Promise<T>;
  /** Monotonic time of the expiry, in ms; null while the result is being computed. */
  until: number | null;
}

/** Maximum cache time of an error, in ms. */
const MAX_ERROR_TTL_MS = 1_000;

/**
 * Minimum ratio of the cache time to the duration of the computation. With 4, a computation is in progress
 * for at most a fifth of the time.
 */
const TTL_FACTOR = 4;

/**
 * Returns a cache time in proportion to the duration of the computation, both in ms.
 * @param least minimum cache time, in ms
 */
export const proportionalTtl = (least: number) => (took: number) => Math.max(least, TTL_FACTOR * took);

/**
 * Memoizes a function. Calls within the cache time return the same result; an error is cached for 1 s at
 * most.
 * @param lasting cache time in ms, or a function of the duration of the computation in ms
 */
export function memoizeWithTtl<T>(
  compute: () => Promise<T>,
  lasting: number | ((took: number) => number),
): () => Promise<T> {
  const lastingOf = typeof lasting === 'number' ? () => lasting : lasting;
  let last: CachedResult<T> | null = null;
  return () => {
    if (last && (last.until === null || performance.now() < last.until)) return last.answer;
    const began = performance.now();
    const found: CachedResult<T> = { answer: compute(), until: null };
    const ended = (most: number) => () => {
      const now = performance.now();
      found.until = now + Math.min(lastingOf(now - began), most);
    };
    found.answer.then(ended(Number.POSITIVE_INFINITY), ended(MAX_ERROR_TTL_MS));
    last = found;
    return found.answer;
  };
}
