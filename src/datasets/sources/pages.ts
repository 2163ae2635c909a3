import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Ask, Page, Window } from '../contract.ts';
import { listIn, memberOf } from './answer.ts';
import { PageOrder } from './page-order.ts';
import { PageTokens } from './page-tokens.ts';

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

/**
 * Follows the page tokens of a list (seed chain-data 2.1, metrics 8). Lists come newest first: once a start has shown
 * that, every page proves the part of the window above its oldest item.
 *
 * When a token died (its call gives 400 or 404), the walk starts again with the rest of the window, as long as each start
 * gets further than those before: it proves more of the window or, where nothing more is proven, reads more pages. A
 * list with an end allows only so many such starts. A start that reached the end saw all that was left, so that the walk
 * is whole, unless the order of its items contradicts what an earlier start proved by their order.
 * @throws UpstreamFailure when a call fails for good, no start gets further, a token repeats, pages stay empty, or the
 * answer says that there are more items than it has
 */
export async function* pages(ask: Ask, list: PagedList, window: Window | null): AsyncGenerator<Page> {
  const step = list.step ?? 1;
  let left = window;
  let mostPages = 0;
  for (;;) {
    const order = new PageOrder(list.at);
    const tokens = new PageTokens();
    let token: string | undefined;
    let read = 0;
    let items = 0;
    /** The begin of what is proven. Above `left` an earlier start proved it. */
    let from = left?.to ?? 0;
    try {
      for (;;) {
        const body = await ask.get(list.path, {
          ...list.query,
          ...(left && list.within ? list.within(left) : {}),
          ...(token === undefined ? {} : { pageToken: token }),
        });
        const page = listIn(body, list.list);
        for (const item of page) order.take(item);
        read += 1;
        items += page.length;
        const narrowed = left !== window;
        token = tokens.next(body, page.length);
        if (token === undefined) {
          if (!narrowed) refuseFewer(body, items);
          const whole = !(narrowed && order.broken);
          yield { body, proven: whole ? window : left, last: true, whole };
          return;
        }
        if (left && order.oldest !== null) from = Math.min(from, Math.max(order.oldest + step, left.from));
        const proven = window && from < window.to && !order.broken ? { from, to: window.to } : null;
        yield { body, proven, last: false, whole: true };
      }
    } catch (error) {
      if (token === undefined || !isDeadToken(error)) throw error;
      const proved = left !== null && !order.broken && from < left.to;
      if (!proved && read <= mostPages) throw error;
      mostPages = proved ? 0 : read;
      if (proved && left) left = { from: left.from, to: from };
    }
  }
}

/** Refuses a list with fewer items than its answer says. */
function refuseFewer(body: unknown, items: number): void {
  const total = Number(memberOf(body, 'total') ?? items);
  if (items < total)
    throw new UpstreamFailure(
      'malformed',
      `the answer contradicts itself: total is ${total}, and its pages have ${items}`,
    );
}

function isDeadToken(error: unknown): boolean {
  return error instanceof UpstreamFailure && (error.kind === 'bad-request' || error.kind === 'not-found');
}
