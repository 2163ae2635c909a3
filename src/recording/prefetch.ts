/** Asks for the next element while the current one is being worked on. */
export async function* prefetch<T>(elements: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = elements[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = iterator.next();
      next.catch(() => {}); // awaited above in its turn; until then it is not unhandled
      yield value;
    }
  } finally {
    await iterator.return?.().catch(() => {});
  }
}
