import type { Ask, Feed, Page, RequestedWindow, Target, Window } from '../datasets/contract.ts';
import { pieces } from './windows.ts';

/**
 * Walks a window of any length, piece by piece of the length that the source likes, newest first: a token is followed inside a piece
 * only. What a page proves counts down from the end of the window, as long as every piece above was proven whole. Only the
 * oldest piece is requested below its start.
 * @throws UpstreamFailure when a call fails for good
 */
export async function* walk(
  { source }: Pick<Feed, 'source'>,
  ask: Ask,
  target: Target,
  window: RequestedWindow | null,
): AsyncGenerator<Page> {
  if (!source.range || !window) {
    yield* source.walk(ask, target, window);
    return;
  }
  let to = window.to;
  for (const piece of pieces(window, source.range.span(target))) {
    let proven: Window | null = null;
    const isOldest = piece.from === window.from;
    const requested = isOldest && window.reach !== undefined ? { ...piece, reach: window.reach } : piece;
    let isFirst = true;
    for await (const page of source.walk(ask, target, requested)) {
      if (page.proven) proven = page.proven.to === piece.to ? { from: page.proven.from, to } : page.proven;
      yield { ...page, proven, last: page.last && isOldest, ...(isFirst && { startsList: true }) };
      isFirst = false;
    }
    if (proven === null || proven.from > piece.from || proven.to !== to) to = piece.from;
  }
}
