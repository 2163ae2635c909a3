/** What was found out, and when its computation ended (steady ms). */
interface Found<T> {
  readonly answer: Promise<T>;
  endedAt: number | null;
}

/**
 * Computes at most once in a while, whoever asks: all who ask meanwhile get the one answer, also when it is an error.
 * @param lasting how long an answer is given again after it was there, ms
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
