import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Ask, Page, RequestedWindow, Window } from '../contract.ts';
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
 *
 * A window with a `reach` below its start is requested down to the reach, and the walk ends with the page that proves the
 * window: the last page is full. Items in another order prove nothing, so that the walk then keeps to the window.
 * @throws UpstreamFailure when a call fails for good, no start gets further, a token repeats, pages stay empty, or the
 * only page states another total than it has
 */
export async function* pages(
  ask: Ask,
  list: PagedList,
  window: RequestedWindow | null,
): AsyncGenerator<Page> {
  let whole = widened(window);
  let left = whole;
  let mostPages = 0;
  for (;;) {
    const start = new Start(list, whole, left, window?.from);
    try {
      yield* start.pages(ask);
      if (!start.isDisordered) return;
      whole = window;
      left = window;
      mostPages = 0;
    } catch (error) {
      if (!start.isUnderWay || !isDeadToken(error)) throw error;
      const rest = start.rest();
      if (rest === null && start.pagesRead <= mostPages) throw error;
      mostPages = rest === null ? start.pagesRead : 0;
      left = rest ?? left;
    }
  }
}

/** The window down to its reach. */
function widened(window: RequestedWindow | null): Window | null {
  return window?.reach !== undefined && window.reach < window.from
    ? { from: window.reach, to: window.to }
    : window;
}

/** One start of a walk, at the newest item of what is left of the window. */
class Start {
  readonly #list: PagedList;
  readonly #window: Window | null;
  readonly #left: Window | null;
  /** Once all above it is proven, the walk ends. */
  readonly #needed: number;
  readonly #order: PageOrder;
  readonly #tokens = new PageTokens();
  /** Leads to the next page. */
  #token: string | undefined;
  #items = 0;
  /** The totals that the pages state. */
  readonly #totals = new Set<number>();
  /** The begin of what is proven. Above what is left an earlier start proved it. */
  #from: number;
  #pagesRead = 0;
  #disordered = false;

  /** @param window down to the reach @param needed the start of the window itself */
  constructor(list: PagedList, window: Window | null, left: Window | null, needed: number | undefined) {
    this.#list = list;
    this.#window = window;
    this.#left = left;
    this.#needed = needed ?? Number.NEGATIVE_INFINITY;
    this.#order = new PageOrder(list.at);
    this.#from = left?.to ?? 0;
  }

  get pagesRead(): number {
    return this.#pagesRead;
  }

  /** Whether a page was read, and there are more. */
  get isUnderWay(): boolean {
    return this.#token !== undefined;
  }

  /** The walk ended because its items are in another order, while it was requested beyond its window. */
  get isDisordered(): boolean {
    return this.#disordered;
  }

  /** @throws UpstreamFailure as the function {@link pages} does */
  async *pages(ask: Ask): AsyncGenerator<Page> {
    const { path, query, within } = this.#list;
    const limits = this.#left && within ? within(this.#left) : {};
    for (;;) {
      const token = this.#token === undefined ? {} : { pageToken: this.#token };
      const body = await ask.get(path, { ...query, ...limits, ...token });
      const items = listIn(body, this.#list.list);
      for (const item of items) this.#order.take(item);
      this.#pagesRead += 1;
      this.#items += items.length;
      const total = Number(memberOf(body, 'total') ?? Number.NaN);
      if (!Number.isNaN(total)) this.#totals.add(total);
      this.#token = this.#tokens.next(body, items.length);
      if (this.#token === undefined) {
        yield this.#started(this.#lastPage(body));
        return;
      }
      const page = this.#page(body);
      const last = this.#isBeyondWindow && page.proven !== null && page.proven.from <= this.#needed;
      this.#disordered = this.#isBeyondWindow && this.#order.broken;
      yield this.#started({ ...page, last });
      if (last || this.#disordered) return;
    }
  }

  /** Marks the page if it is the first one. */
  #started(page: Page): Page {
    return this.#pagesRead === 1 ? { ...page, startsList: true } : page;
  }

  /** Whether the pages are requested down to a reach below the window. */
  get #isBeyondWindow(): boolean {
    return this.#window !== null && this.#window.from < this.#needed;
  }

  /** The older part of what was left, which no page proved; null where none proved anything. */
  rest(): Window | null {
    const left = this.#left;
    return left && !this.#order.broken && this.#from < left.to ? { from: left.from, to: this.#from } : null;
  }

  #page(body: unknown): Page {
    const window = this.#window;
    const { oldest, broken } = this.#order;
    if (this.#left && oldest !== null)
      this.#from = Math.min(this.#from, Math.max(oldest + (this.#list.step ?? 1), this.#left.from));
    const proven = window && this.#from < window.to && !broken ? { from: this.#from, to: window.to } : null;
    return { body, proven, last: false, whole: true };
  }

  /** @throws UpstreamFailure (malformed) when the list is one page, and another total is stated */
  #lastPage(body: unknown): Page {
    const narrowed = this.#left !== this.#window;
    const whole = !(narrowed && this.#order.broken);
    const page = { body, proven: whole ? this.#window : this.#left, last: true, whole };
    const contradiction = narrowed ? null : this.#wrongTotal();
    if (contradiction === null) return page;
    if (this.#pagesRead === 1) throw new UpstreamFailure('malformed', contradiction);
    return { ...page, contradiction };
  }

  /** How a stated total contradicts the items; null: it does not. */
  #wrongTotal(): string | null {
    const wrong = [...this.#totals].find((total) => total !== this.#items);
    return wrong === undefined
      ? null
      : `the answer contradicts itself: total is ${wrong}, and its pages have ${this.#items}`;
  }
}

function isDeadToken(error: unknown): boolean {
  return error instanceof UpstreamFailure && (error.kind === 'bad-request' || error.kind === 'not-found');
}
