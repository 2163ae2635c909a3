/** A cached result and its expiry (monotonic, in ms). */
interface CachedResult<T> {
  readonly answer: Promise<T>;
  /** Null while the result is being computed. */
  until: number | null;
}

/** Maximum cache time of an error, in ms. */
const MAX_ERROR_TTL_MS = 1_000;

/**
 * Cache time as a multiple of the duration of the computation, which then takes a fifth of the time at most.
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
