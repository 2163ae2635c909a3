/** One block every 8 seconds: 10,800 a day, so that a day is 108 full pages. */
export const BLOCK_INTERVAL = 8;
/** Unix seconds of the day whose start ends the chain: 2025-11-01. */
export const CHAIN_END = Date.UTC(2025, 10, 1) / 1000;

/** Half an interval away from the slot's edges, so that no block is at the boundary of two days. */
const IN_SLOT = BLOCK_INTERVAL / 2;
const NEWEST_HEIGHT = 15_210_400;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The blocks of a chain that one node proposed, newest first, as the service's JSON in one buffer. */
export class Blocks {
  readonly count: number;
  readonly #json: Buffer;
  /** Offset of each block in the buffer; a comma is between two. */
  readonly #starts: Float64Array;

  constructor(count: number) {
    this.count = count;
    this.#starts = new Float64Array(count + 1);
    const parts: Buffer[] = [];
    const random = randomness(8);
    let end = 0;
    let hash = base58(random, 50);
    for (let at = 0; at < count; at++) {
      const parent = base58(random, 50);
      const text = Buffer.from(`${at === 0 ? '' : ','}${JSON.stringify(block(at, hash, parent, random))}`);
      this.#starts[at] = at === 0 ? 0 : end + 1;
      end += text.length;
      parts.push(text);
      hash = parent;
    }
    this.#starts[count] = end + 1;
    this.#json = Buffer.concat(parts, end);
  }

  /** The index of the newest block that is not after `second` (Unix). */
  firstUntil(second: number): number {
    return Math.max(0, Math.ceil((CHAIN_END - IN_SLOT - second) / BLOCK_INTERVAL));
  }

  /** The index after the oldest block that is not before `second` (Unix). */
  endFrom(second: number): number {
    return Math.min(this.count, Math.max(0, Math.floor((CHAIN_END - IN_SLOT - second) / BLOCK_INTERVAL) + 1));
  }

  /** The JSON of the blocks from one index to before another, between commas. */
  slice(from: number, to: number): Buffer {
    if (from >= to) return Buffer.alloc(0);
    return this.#json.subarray(this.#starts[from], (this.#starts[to] ?? 1) - 1);
  }
}

function block(at: number, hash: string, parent: string, random: () => number) {
  const height = NEWEST_HEIGHT - at;
  const time = CHAIN_END - IN_SLOT - at * BLOCK_INTERVAL;
  return {
    blockNumber: String(height),
    blockHash: hash,
    parentHash: parent,
    blockTimestamp: time,
    blockType: 'BanffStandardBlock',
    txCount: 1,
    transactions: [base58(random, 50)],
    blockSizeBytes: 700 + Math.floor(random() * 4000),
    l1ValidatorsAccruedFees: 0,
    activeL1Validators: 12,
    currentSupply: `4501234567890${String(99_999 - (at % 90_000)).padStart(5, '0')}`,
    proposerDetails: {
      proposerId: base58(random, 49),
      proposerParentId: base58(random, 50),
      proposerNodeId: 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg',
      proposerPChainHeight: height - 2,
      proposerTimestamp: time - 1,
    },
  };
}

function base58(random: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += BASE58[Math.floor(random() * 58)];
  return text;
}

/** The same numbers from 0 to 1 at every start (mulberry32). */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
