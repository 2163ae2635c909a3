import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { RequestedWindow, SourcePage, UpstreamClient, Window } from '../contract.ts';
import { getList, getMember } from './answer.ts';

/**
 * Checks whether the items of a list are sorted newest first. The order is proven only by two items with
 * different positions, because items with the same position are sorted in both directions.
 */
class PageOrder {
  readonly #at: (item: unknown) => number | null;
  #newest = Number.NEGATIVE_INFINITY;
  #oldest = Number.POSITIVE_INFINITY;
  #broken: boolean;

  /**
   * @param at returns the position of an item, or null if the position cannot be read. Undefined: items have
   * no positions.
   */
  constructor(at: ((item: unknown) => number | null) | undefined) {
    this.#at = at ?? (() => null);
    this.#broken = at === undefined;
  }

  /** Reads the next item. */
  take(item: unknown): void {
    const at = this.#at(item);
    if (at === null || at > this.#oldest) this.#broken = true;
    else {
      this.#oldest = at;
      this.#newest = Math.max(this.#newest, at);
    }
  }

  /** True if an item was newer than the previous one or had no position, so that positions prove nothing. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Position of the oldest item, above which everything was read. Null while the order is not proven. */
  get oldest(): number | null {
    return !this.#broken && this.#oldest < this.#newest ? this.#oldest : null;
  }
}

const MAX_EMPTY_PAGES = 10;

/**
 * Validates the page tokens of a walk since its last start. Each token must be new, and the number of empty
 * pages is limited.
 */
class PageTokens {
  readonly #seenTokens = new Set<string>();
  #emptyPages = 0;

  /**
   * Returns the token of the next page. Returns undefined if there is none.
   * @param items number of items in the response
   * @throws UpstreamFailure (malformed) if a token is no string or is repeated, or too many pages are empty
   */
  next(body: unknown, items: number): string | undefined {
    const next = getMember(body, 'nextPageToken');
    if (next === undefined || next === null || next === '') return undefined;
    if (typeof next !== 'string') throw new UpstreamFailure('malformed', 'nextPageToken is not a string');
    if (this.#seenTokens.has(next))
      throw new UpstreamFailure('malformed', 'the same nextPageToken was returned twice');
    this.#seenTokens.add(next);
    this.#emptyPages = items === 0 ? this.#emptyPages + 1 : 0;
    if (this.#emptyPages > MAX_EMPTY_PAGES)
      throw new UpstreamFailure(
        'malformed',
        `${this.#emptyPages} empty pages in a row, each with a nextPageToken`,
      );
    return next;
  }
}

/** A list that is read page by page with tokens, inside a window of time or as a whole. */
export interface PagedList {
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  /** Name of the list in the response. */
  readonly list: string;
  /** Returns the query parameters that limit the response to a window. */
  readonly within?: (window: Window) => Readonly<Record<string, number>>;
  /**
   * Returns the position of an item on the axis of the window. Returns null if the position cannot be read.
   * Required for progress inside a window.
   */
  readonly at?: (item: unknown) => number | null;
  /** Smallest step on the axis: 1000 for times in seconds. */
  readonly step?: number;
}

/**
 * Follows the page tokens of a list. Lists are sorted newest first. After the items of a start have proven
 * this order, every page proves the part of the window that is newer than the oldest item of the page.
 *
 * If a token expires (its call returns 400 or 404), the walk starts again with the rest of the window, as
 * long as each start makes progress. A start makes progress if it proves more of the window, or if it reads
 * more pages than the previous start. So a finite list has a finite number of starts. A walk is whole if its
 * last start reaches the end of the list, and the order of the items does not contradict an earlier start.
 *
 * A window with a `reach` below its start is requested down to the reach, so that the last page is full. The
 * walk ends with the page that proves the window. Items in another order prove nothing, so that the walk then
 * continues with the window itself.
 * @throws UpstreamFailure if a call fails permanently, no start makes progress, a token repeats, too many
 * pages are empty, or the only page states a wrong total
 */
export async function* fetchPages(
  client: UpstreamClient,
  list: PagedList,
  window: RequestedWindow | null,
): AsyncGenerator<SourcePage> {
  let whole = extendToReach(window);
  let remaining = whole;
  let mostPages = 0;
  for (;;) {
    const start = new WalkStart(list, whole, remaining, window?.from);
    try {
      yield* start.pages(client);
      if (!start.isDisordered) return;
      whole = window;
      remaining = window;
      mostPages = 0;
    } catch (error) {
      if (!start.hasMorePages || !isDeadToken(error)) throw error;
      const rest = start.rest();
      if (rest === null && start.pagesRead <= mostPages) throw error;
      mostPages = rest === null ? start.pagesRead : 0;
      remaining = rest ?? remaining;
    }
  }
}

/** Returns the window extended down to its reach. */
function extendToReach(window: RequestedWindow | null): Window | null {
  return window?.reach !== undefined && window.reach < window.from
    ? { from: window.reach, to: window.to }
    : window;
}

/** One start of a walk, at the newest item of the remaining window. */
class WalkStart {
  readonly #list: PagedList;
  readonly #window: Window | null;
  readonly #remaining: Window | null;
  /** Position at which the walk ends: everything above it is proven. */
  readonly #needed: number;
  readonly #order: PageOrder;
  readonly #tokens = new PageTokens();
  /** Token of the next page. */
  #token: string | undefined;
  #items = 0;
  /** Totals that the pages state. */
  readonly #totals = new Set<number>();
  /** Lower end of the proven part. An earlier start proved everything above the remaining window. */
  #from: number;
  #pagesRead = 0;
  #disordered = false;

  /**
   * @param window extended down to the reach
   * @param needed start of the window itself
   */
  constructor(list: PagedList, window: Window | null, remaining: Window | null, needed: number | undefined) {
    this.#list = list;
    this.#window = window;
    this.#remaining = remaining;
    this.#needed = needed ?? Number.NEGATIVE_INFINITY;
    this.#order = new PageOrder(list.at);
    this.#from = remaining?.to ?? 0;
  }

  get pagesRead(): number {
    return this.#pagesRead;
  }

  /** True if a page was read and more pages follow. */
  get hasMorePages(): boolean {
    return this.#token !== undefined;
  }

  /**
   * True if the walk ended at items that are not sorted newest first. Only for a walk that requests pages
   * down to a reach.
   */
  get isDisordered(): boolean {
    return this.#disordered;
  }

  /** @throws UpstreamFailure under the conditions of the function {@link fetchPages} */
  async *pages(client: UpstreamClient): AsyncGenerator<SourcePage> {
    const { path, query, within } = this.#list;
    const limits = this.#remaining && within ? within(this.#remaining) : {};
    for (;;) {
      const token = this.#token === undefined ? {} : { pageToken: this.#token };
      const body = await client.get(path, { ...query, ...limits, ...token });
      const items = getList(body, this.#list.list);
      for (const item of items) this.#order.take(item);
      this.#pagesRead += 1;
      this.#items += items.length;
      const total = Number(getMember(body, 'total') ?? Number.NaN);
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

  /** Marks the first page. */
  #started(page: SourcePage): SourcePage {
    return this.#pagesRead === 1 ? { ...page, startsList: true } : page;
  }

  /** True if pages are requested down to a reach below the window. */
  get #isBeyondWindow(): boolean {
    return this.#window !== null && this.#window.from < this.#needed;
  }

  /**
   * Returns the older part of the remaining window, which no page proved. Returns null if nothing was proven.
   */
  rest(): Window | null {
    const remaining = this.#remaining;
    return remaining && !this.#order.broken && this.#from < remaining.to
      ? { from: remaining.from, to: this.#from }
      : null;
  }

  #page(body: unknown): SourcePage {
    const window = this.#window;
    const { oldest, broken } = this.#order;
    if (this.#remaining && oldest !== null)
      this.#from = Math.min(this.#from, Math.max(oldest + (this.#list.step ?? 1), this.#remaining.from));
    const proven = window && this.#from < window.to && !broken ? { from: this.#from, to: window.to } : null;
    return { body, proven, last: false, whole: true };
  }

  /** @throws UpstreamFailure (malformed) if the list has only one page, and the stated total differs */
  #lastPage(body: unknown): SourcePage {
    const narrowed = this.#remaining !== this.#window;
    const whole = !(narrowed && this.#order.broken);
    const page = { body, proven: whole ? this.#window : this.#remaining, last: true, whole };
    const contradiction = narrowed ? null : this.#wrongTotal();
    if (contradiction === null) return page;
    if (this.#pagesRead === 1) throw new UpstreamFailure('malformed', contradiction);
    return { ...page, contradiction };
  }

  /** Returns how a stated total contradicts the items. Returns null if all totals are correct. */
  #wrongTotal(): string | null {
    const wrong = [...this.#totals].find((total) => total !== this.#items);
    return wrong === undefined
      ? null
      : `the response contradicts itself: total is ${wrong}, and its pages have ${this.#items}`;
  }
}

function isDeadToken(error: unknown): boolean {
  return error instanceof UpstreamFailure && (error.kind === 'bad-request' || error.kind === 'not-found');
}
