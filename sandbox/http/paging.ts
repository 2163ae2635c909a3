import type { Call } from './call.ts';
import type { PageTokens } from './page-tokens.ts';
import type { Query } from './query.ts';

/** The requested page: number of items, and the cursor that it follows. */
export interface Page {
  readonly size: number;
  readonly after: string | undefined;
  /** True if a fault reversed the order of the list. */
  readonly reversed: boolean;
  /** Creates the token of the next page, which resumes after the cursor. */
  next(cursor: string): string;
}

/** The sizes of an operation's pages. */
export interface PageSizes {
  readonly max: number;
  readonly standard: number;
}

/**
 * Parses `pageToken` and `pageSize`, and checks the query. A token is valid for one path and for the same
 * parameters, including `pageSize`. The default page size equals an absent `pageSize`.
 */
export function readPage(call: Call, query: Query, tokens: PageTokens, sizes: PageSizes): Page {
  const pageSize = query.integer('pageSize', { min: 1, max: sizes.max }) ?? sizes.standard;
  query.check();
  const others = [...call.query].filter(([name]) => name !== 'pageToken' && name !== 'pageSize');
  const filters = `${call.path}?${others
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}&pageSize=${pageSize}`;
  const token = query.text('pageToken');
  const resumed = token === undefined || token === '' ? undefined : token;
  const place = resumed === undefined ? undefined : tokens.resume(resumed, filters, call.nowMs);
  const walk = place?.walk ?? call.walk ?? {};
  const pages = (place?.pages ?? 0) + 1;
  return {
    size: walk.pageSize ?? pageSize,
    after: place?.cursor,
    reversed: walk.reversed ?? false,
    next: (cursor) => tokens.issue({ filters, cursor, pages, walk }, call.nowMs, resumed),
  };
}

/** A page of items and, if more items follow, the token of the next page. */
export interface Slice<T> {
  readonly items: readonly T[];
  readonly nextPageToken?: string;
}

/** Order of a list by its keys. */
export type Order = 'asc' | 'desc';

/** Returns a key that sorts by a non-negative number, then by an id. */
export function sortKey(number: number | bigint, id: string): string {
  return `${String(number).padStart(16, '0')} ${id}`;
}

/**
 * Returns the items after the page's cursor, in the order of their unique keys. An item that was added or
 * removed between two pages neither shifts nor repeats other items.
 */
export function slice<T>(items: readonly T[], page: Page, order: Order, key: (item: T) => string): Slice<T> {
  const sign = (order === 'asc') === page.reversed ? -1 : 1;
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -sign : sign);
  const after = page.after;
  const rest = items
    .map((item) => ({ item, key: key(item) }))
    .filter((entry) => after === undefined || compare(entry.key, after) > 0)
    .sort((a, b) => compare(a.key, b.key));
  const part = rest.slice(0, page.size);
  const last = part.at(-1);
  const found = part.map((entry) => entry.item);
  return last === undefined || rest.length <= page.size
    ? { items: found }
    : { items: found, nextPageToken: page.next(last.key) };
}

/** A range of numbered objects: inclusive start, exclusive end. */
export interface Numbers {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the page of a range of numbered objects, the last first. For lists that are too long to be created
 * completely.
 */
export function sliceNumbers({ from, to }: Numbers, page: Page): Slice<number> {
  const after = page.after === undefined ? undefined : Number(page.after);
  const [start, end] = page.reversed
    ? [Math.max(from, after ?? from), to]
    : [from, Math.min(to, after ?? to)];
  const count = Math.max(0, Math.min(page.size, end - start));
  const items = Array.from({ length: count }, (_, i) => (page.reversed ? start + i : end - 1 - i));
  const hasMore = end - start > count;
  const cursor = page.reversed ? start + count : end - count;
  return hasMore ? { items, nextPageToken: page.next(String(cursor)) } : { items };
}
