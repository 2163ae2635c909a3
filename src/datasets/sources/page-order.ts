/**
 * Checks whether the items of a list are sorted newest first. This requires two items with different
 * positions: one item, or several with the same position, look the same in the reverse order.
 */
export class PageOrder {
  readonly #at: (item: unknown) => number | null;
  #newest = Number.NEGATIVE_INFINITY;
  #oldest = Number.POSITIVE_INFINITY;
  #broken: boolean;

  /**
   * @param at returns the position of an item, or null if it cannot be read. Undefined: items have no
   * positions.
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

  /** An item was newer than the previous one, or has no position, so that positions prove nothing. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Position of the oldest item, above which everything was read. Null while the order is not proven. */
  get oldest(): number | null {
    return !this.#broken && this.#oldest < this.#newest ? this.#oldest : null;
  }
}
