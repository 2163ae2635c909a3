/** A result, and until when it is given again (steady ms). */
interface Found<T> {
  readonly answer: Promise<T>;
  /** Null: it is under way. */
  until: number | null;
}

/** The longest that an error is given again, ms. */
const ERROR_LASTS = 1_000;

/**
 * Computes a value at most once in a while. Calls in the meantime get the same result; an error for a second at most.
 * @param lasting how long a result is given again, ms
 */
export function recently<T>(compute: () => Promise<T>, lasting: number): () => Promise<T> {
  let last: Found<T> | null = null;
  return () => {
    if (last && (last.until === null || performance.now() < last.until)) return last.answer;
    const found: Found<T> = { answer: compute(), until: null };
    const lasts = (time: number) => () => {
      found.until = performance.now() + time;
    };
    found.answer.then(lasts(lasting), lasts(Math.min(lasting, ERROR_LASTS)));
    last = found;
    return found.answer;
  };
}
