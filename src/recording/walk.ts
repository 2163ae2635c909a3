import type {
  Feed,
  RequestedWindow,
  SourcePage,
  Target,
  UpstreamClient,
  Window,
} from '../datasets/contract.ts';
import { splitWindow } from './windows.ts';

/**
 * Walks a window of any length in pieces of the span of the source, newest first. A page token is followed
 * only inside a piece. The proven window grows downwards from the end of the window, as long as every newer
 * piece is proven completely. Only the oldest piece is requested below its start.
 * @throws UpstreamFailure if a call fails permanently
 */
export async function* walk(
  { source }: Pick<Feed, 'source'>,
  client: UpstreamClient,
  target: Target,
  window: RequestedWindow | null,
): AsyncGenerator<SourcePage> {
  if (!source.range || !window) {
    yield* source.walk(client, target, window);
    return;
  }
  let to = window.to;
  for (const piece of splitWindow(window, source.range.span(target))) {
    let proven: Window | null = null;
    const isOldest = piece.from === window.from;
    const requested = isOldest && window.reach !== undefined ? { ...piece, reach: window.reach } : piece;
    let isFirst = true;
    for await (const page of source.walk(client, target, requested)) {
      if (page.proven) proven = page.proven.to === piece.to ? { from: page.proven.from, to } : page.proven;
      yield { ...page, proven, last: page.last && isOldest, ...(isFirst && { startsList: true }) };
      isFirst = false;
    }
    if (proven === null || proven.from > piece.from || proven.to !== to) to = piece.from;
  }
}

/** Requests the next element while the current one is processed. */
export async function* prefetch<T>(elements: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = elements[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = iterator.next();
      // The promise is awaited in the next iteration. This handler prevents an unhandled rejection until
      // then.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await iterator.return?.().catch(() => {});
  }
}
