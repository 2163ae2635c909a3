/** A result, and until when it is given again (steady ms). */
interface Found<T> {
  readonly answer: Promise<T>;
  /** Null: it is under way. */
  until: number | null;
}

/** The longest that an error is given again, ms. */
const ERROR_LASTS = 1_000;

/** What takes long is given again for so many times as long, so that it is under way for a fifth of the time at most. */
const TIMES = 4;

/** How long something lasts that is not worth making again at once: in proportion to what it took, ms. @param least at least so long, ms */
export const inProportion = (least: number) => (took: number) => Math.max(least, TIMES * took);

/**
 * Computes a value at most once in a while. Calls in the meantime get the same result; an error for a second at most.
 * @param lasting how long a result is given again, ms, or how long by what it took
 */
export function recently<T>(
  compute: () => Promise<T>,
  lasting: number | ((took: number) => number),
): () => Promise<T> {
  const lastingOf = typeof lasting === 'number' ? () => lasting : lasting;
  let last: Found<T> | null = null;
  return () => {
    if (last && (last.until === null || performance.now() < last.until)) return last.answer;
    const began = performance.now();
    const found: Found<T> = { answer: compute(), until: null };
    const ended = (most: number) => () => {
      const now = performance.now();
      found.until = now + Math.min(lastingOf(now - began), most);
    };
    found.answer.then(ended(Number.POSITIVE_INFINITY), ended(ERROR_LASTS));
    last = found;
    return found.answer;
  };
}
