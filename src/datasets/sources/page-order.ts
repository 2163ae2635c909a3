/**
 * Checks whether the items of a list come newest first. Two items with different places are needed to show it: one item,
 * or several with the same place, look the same in a list that is sorted the other way.
 */
export class PageOrder {
  readonly #at: (item: unknown) => number | null;
  #newest = Number.NEGATIVE_INFINITY;
  #oldest = Number.POSITIVE_INFINITY;
  #broken: boolean;

  /** @param at an item's place; null where it cannot be read. Absent: the items have no places */
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

  /** An item was newer than one before it, or has no place: nothing follows from places. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The place of the oldest item, above which all was read; null while the order is not shown. */
  get oldest(): number | null {
    return !this.#broken && this.#oldest < this.#newest ? this.#oldest : null;
  }
}
