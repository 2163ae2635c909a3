/** A result, and when its computation ended (steady ms). */
interface Found<T> {
  readonly answer: Promise<T>;
  endedAt: number | null;
}

/**
 * Computes a value at most once in a while. Calls in the meantime get the same result, also when it is an error.
 * @param lasting how long a result is given again, ms
 */
export function recently<T>(compute: () => Promise<T>, lasting: number): () => Promise<T> {
  let last: Found<T> | null = null;
  return () => {
    if (last && (last.endedAt === null || performance.now() - last.endedAt < lasting)) return last.answer;
    const found: Found<T> = { answer: compute(), endedAt: null };
    const end = () => {
      found.endedAt = performance.now();
    };
    found.answer.then(end, end);
    last = found;
    return found.answer;
  };
}
