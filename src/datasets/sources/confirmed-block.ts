import { getMember } from './answer.ts';

/** Placeholder for a missing height. */
const NO_HEIGHT = -1;
/** Number of blocks per second that no chain exceeds for long. */
const MAX_BLOCKS_PER_SECOND = 100;

/** A time before any chain with such lists, in ms since 1970: the start of Ethereum. */
const ETHEREUM_START = Date.UTC(2015, 6, 30);

/**
 * Returns a height that no chain can have reached yet.
 * @param now ms since 1970
 */
export const unreachableHeight = (now: number): number =>
  Math.ceil((MAX_BLOCKS_PER_SECOND * (now - ETHEREUM_START)) / 1000);

/**
 * Determines the height up to which a list of items in blocks proves the state of its chain. An invalid item
 * may have any height, and windows up to this height would be claimed and never requested again. So a height
 * counts only if
 * - an item of a newer block confirms the height, because the newest block of a list may be invalid;
 * - the chain can have grown from every other block to this height in the time between the two blocks.
 *   Otherwise an invalid item, which stays at the top of its list, would confirm the next invalid item years
 *   later.
 *
 * Each poll requests unclaimed parts again, which adds at most one block. A list of one block claims nothing.
 * If a chain exceeds {@link MAX_BLOCKS_PER_SECOND}, the newest part of a list is claimed later. A block with
 * an invalid low height delays claims only until enough time has passed.
 */
export class ConfirmedBlock {
  readonly #from: number;
  readonly #settle: number;
  /** Greatest height that the chain can have reached. */
  #reach = Number.POSITIVE_INFINITY;
  /** The two newest blocks within reach, the newest first. */
  #newest: readonly [number, number] = [NO_HEIGHT, NO_HEIGHT];
  /** Highest block that is old enough to be claimed. */
  #settled = NO_HEIGHT;

  /**
   * @param from lower blocks are ignored
   * @param settle minimum age of a block that is claimed, in ms
   */
  constructor(from: number, settle: number) {
    this.#from = from;
    this.#settle = settle / 1000;
  }

  /**
   * Reads the next items.
   * @param now ms since 1970
   */
  take(items: readonly unknown[], now: number): void {
    const heights = [...this.#newest];
    for (const item of items) {
      const height = readBlockNumber(item);
      if (height === null || height < this.#from) continue;
      heights.push(height);
      const age = now / 1000 - (parseInteger(getMember(item, 'blockTimestamp')) ?? Number.POSITIVE_INFINITY);
      // A time in the future is invalid, or the local clock is late.
      if (age >= 0) this.#reach = Math.min(this.#reach, height + MAX_BLOCKS_PER_SECOND * age);
      if (age >= this.#settle && Number.isFinite(age)) this.#settled = Math.max(this.#settled, height);
    }
    let [newest, next] = [NO_HEIGHT, NO_HEIGHT];
    for (const height of heights) {
      if (height > this.#reach || height === newest) continue;
      if (height > newest) [newest, next] = [height, newest];
      else if (height > next) next = height;
    }
    this.#newest = [newest, next];
  }

  /** The newest confirmed height. Null: there is none. */
  get height(): number | null {
    const [, next] = this.#newest;
    return next === NO_HEIGHT ? null : next;
  }

  /** Exclusive end of the claimable heights. Null if there are none. */
  get claimable(): number | null {
    const { height } = this;
    return height === null || this.#settled === NO_HEIGHT ? null : Math.min(height, this.#settled) + 1;
  }
}

/** Returns the block number of an item. Returns null if it cannot be read. */
export const readBlockNumber = (item: unknown): number | null => parseInteger(getMember(item, 'blockNumber'));

/**
 * Parses an integer, or a text of decimal digits. Returns null if the value is neither, or too large to be
 * exact.
 */
function parseInteger(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}
