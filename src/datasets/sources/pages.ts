import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Ask, Page, Window } from '../contract.ts';
import { listIn, memberOf } from './answer.ts';

/** A list that is read page by page with tokens, inside a window of time or as a whole. */
export interface PagedList {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** The name of the list in the answer. */
  readonly list: string;
  /** The query parameters that limit the answer to a window. */
  readonly within?: (window: Window) => Readonly<Record<string, number>>;
  /** An item's place on the window's axis; null where it cannot be read. Needed for progress inside a window. */
  readonly at?: (item: unknown) => number | null;
  /** The smallest step on the axis: 1000 for times in seconds. */
  readonly step?: number;
}

const MOST_EMPTY_PAGES = 10;

/**
 * Follows the page tokens of a list (seed chain-data 2.1, metrics 8). Lists come newest first: while they do, every
 * page proves the part of the window above its oldest item. A token that died (any 400 or 404 to it) costs nothing
 * that is proven: the walk starts once more with what is left of the window.
 * @throws UpstreamFailure when a call fails for good, a token repeats, or pages stay empty
 */
export async function* pages(ask: Ask, list: PagedList, window: Window | null): AsyncGenerator<Page> {
  const seenTokens = new Set<string>();
  let left = window;
  let token: string | undefined;
  let sorted = list.at !== undefined;
  let oldest = Number.POSITIVE_INFINITY;
  let emptyPages = 0;
  let restarted = false;
  for (;;) {
    let body: unknown;
    try {
      body = await ask.get(list.path, {
        ...list.query,
        ...(left && list.within ? list.within(left) : {}),
        ...(token === undefined ? {} : { pageToken: token }),
      });
    } catch (error) {
      if (token === undefined || restarted || !isDeadToken(error)) throw error;
      restarted = true;
      token = undefined;
      if (left && sorted && oldest < Number.POSITIVE_INFINITY)
        left = { from: left.from, to: Math.min(left.to, oldest + (list.step ?? 1)) };
      continue;
    }
    const items = listIn(body, list.list);
    for (const item of items) {
      const at = list.at?.(item) ?? null;
      if (at === null || at > oldest) sorted = false;
      else oldest = at;
    }
    const next = memberOf(body, 'nextPageToken');
    const last = next === undefined || next === null || next === '';
    if (last) {
      yield { body, proven: window, last, whole: !restarted };
      return;
    }
    if (typeof next !== 'string') throw new UpstreamFailure('malformed', 'nextPageToken is not a string');
    if (seenTokens.has(next)) throw new UpstreamFailure('malformed', 'the same nextPageToken came twice');
    seenTokens.add(next);
    emptyPages = items.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > MOST_EMPTY_PAGES)
      throw new UpstreamFailure('malformed', `${emptyPages} empty pages in a row, each with a nextPageToken`);
    const from = Math.max(oldest + (list.step ?? 1), window?.from ?? 0);
    const proven = window && sorted && from < window.to ? { from, to: window.to } : null;
    yield { body, proven, last, whole: !restarted };
    token = next;
  }
}

function isDeadToken(error: unknown): boolean {
  return error instanceof UpstreamFailure && (error.kind === 'bad-request' || error.kind === 'not-found');
}
