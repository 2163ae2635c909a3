import { memberOf } from './answer.ts';

/** The height of no block. */
const NONE = -1;
/** Blocks a second: more than any chain makes for long. */
const FASTEST = 100;

/** Before any chain with such lists: none is older than Ethereum. */
const FIRST = Date.UTC(2015, 6, 30);

/** What no chain can have got to by now, as a height. @param now ms since 1970 */
export const beyondAnyChain = (now: number): number => Math.ceil((FASTEST * (now - FIRST)) / 1000);

/**
 * The height up to which a list of things in blocks tells of its chain. A wrong item may say any height, and what was claimed up to it
 * would never be asked for again. So a height counts only where
 * - an item of a newer block confirms it: the newest block of a list may be the wrong one;
 * - the chain can have got there from each other block in the time since: a wrong item stays at the top of its list, and would confirm
 *   the next wrong one years later.
 * What is not claimed is asked for again with each poll: one block more than needed, also where it is years older than the newest one. A
 * list of one block claims nothing. On a faster chain the newest part of a list is claimed later. A block that is told too low holds the claims back
 * only until the time since it suffices.
 */
export class ConfirmedBlock {
  readonly #from: number;
  readonly #settle: number;
  /** The highest that a chain can have got to. */
  #reach = Number.POSITIVE_INFINITY;
  /** The two newest blocks within reach, the newest first. */
  #newest: readonly [number, number] = [NONE, NONE];
  /** The highest block that is old enough to be claimed. */
  #settled = NONE;

  /** @param from items of lower blocks do not count @param settle age from which a block is claimed, ms */
  constructor(from: number, settle: number) {
    this.#from = from;
    this.#settle = settle / 1000;
  }

  /** Reads the next items. @param now ms since 1970 */
  take(items: readonly unknown[], now: number): void {
    const heights = [...this.#newest];
    for (const item of items) {
      const height = blockOf(item);
      if (height === null || height < this.#from) continue;
      heights.push(height);
      const age = now / 1000 - (wholeNumber(memberOf(item, 'blockTimestamp')) ?? Number.POSITIVE_INFINITY);
      // A time in the future is wrong, or the clock here is.
      if (age >= 0) this.#reach = Math.min(this.#reach, height + FASTEST * age);
      if (age >= this.#settle && Number.isFinite(age)) this.#settled = Math.max(this.#settled, height);
    }
    let [newest, next] = [NONE, NONE];
    for (const height of heights) {
      if (height > this.#reach || height === newest) continue;
      if (height > newest) [newest, next] = [height, newest];
      else if (height > next) next = height;
    }
    this.#newest = [newest, next];
  }

  /** The newest confirmed height; null: there is none. */
  get height(): number | null {
    const [, next] = this.#newest;
    return next === NONE ? null : next;
  }

  /** The end of the heights that may be claimed, exclusive; null if there are none. */
  get claimable(): number | null {
    const { height } = this;
    return height === null || this.#settled === NONE ? null : Math.min(height, this.#settled) + 1;
  }
}

/** An item's block; null where it cannot be read. */
export const blockOf = (item: unknown): number | null => wholeNumber(memberOf(item, 'blockNumber'));

/** A whole number, also as decimal digits; null where it is none, or too large to be exact. */
function wholeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}
