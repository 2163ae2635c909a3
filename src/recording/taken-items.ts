import type { ByKey } from './decode.ts';

/** Gives the items of a page that was taken, by reading its answer again. */
export type ReadAgain = () => readonly unknown[];

interface TakenPage {
  /** The number of its first item, counted over all pages. */
  readonly first: number;
  readonly read: ReadAgain;
}

/**
 * The items that were taken, by natural key. A page's items are held while it is decoded only: what is kept of them is a number a key,
 * and how its page is read again. Parsed items would be most of what a process holds, and of what the garbage collector copies.
 */
export class TakenItems implements ByKey {
  readonly #pages: TakenPage[] = [];
  readonly #places = new Map<string, number>();
  /** The number of the first item of the current list. */
  #listStart = 0;
  /** The keys of earlier lists that the current list showed with equal values. */
  readonly #shownAgain = new Set<string>();
  /** The page that is being decoded. */
  #items: readonly unknown[] = [];
  #first = 0;
  /** A page that was read again: an item that comes again has neighbours that do. */
  #again: { readonly page: TakenPage; readonly items: readonly unknown[] } | null = null;

  /** How many items there are, those included that have no key. */
  get size(): number {
    return this.#first + this.#items.length;
  }

  /** Starts another list: items that earlier lists showed are no repetition. */
  startList(): void {
    this.#listStart = this.size;
    this.#shownAgain.clear();
  }

  /** Takes a page: its items are decoded next. */
  begin(items: readonly unknown[], read: ReadAgain): void {
    this.#first = this.size;
    this.#items = items;
    this.#pages.push({ first: this.#first, read });
  }

  /** Lets the items of the page go that {@link begin} took. */
  end(): void {
    this.#first = this.size;
    this.#items = [];
  }

  /** See {@link ByKey.get}. */
  get(id: string): unknown {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    return place < this.#first ? this.#readAt(place) : this.#items[place - this.#first];
  }

  /** See {@link ByKey.set}. */
  set(id: string, _item: unknown, index: number): void {
    this.#places.set(id, this.#first + index);
  }

  /** See {@link ByKey.showAgain}. */
  showAgain(id: string): boolean {
    if ((this.#places.get(id) ?? 0) >= this.#listStart || this.#shownAgain.has(id)) return true;
    this.#shownAgain.add(id);
    return false;
  }

  /** The items that were taken before the item of a number, by natural key; what is set is kept apart. */
  before(number: number): ByKey {
    const own = new Map<string, unknown>();
    return {
      get: (id) => own.get(id) ?? ((this.#places.get(id) ?? number) < number ? this.get(id) : undefined),
      set: (id, item) => own.set(id, item),
    };
  }

  #readAt(place: number): unknown {
    const page = this.#pages.findLast(({ first }) => first <= place);
    if (!page) return undefined;
    if (this.#again?.page !== page) this.#again = { page, items: page.read() };
    return this.#again.items[place - page.first];
  }
}
