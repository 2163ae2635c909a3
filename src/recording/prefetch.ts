/** Requests the next element while the current one is processed. */
export async function* prefetch<T>(elements: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = elements[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = iterator.next();
      // it is awaited in the next iteration; this prevents an unhandled rejection until then
      next.catch(() => {});
      yield value;
    }
  } finally {
    await iterator.return?.().catch(() => {});
  }
}
