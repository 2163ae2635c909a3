import type { IdSpaces } from '../ids/spaces.ts';
import { KIND } from '../ids/spaces.ts';
import { derive, mix, pick, unit } from '../random.ts';
import { EMPTY_ID, type PrimaryChain } from './primary-chains.ts';
import { Proposers } from './proposers.ts';
import type { Validators } from './validators.ts';

const TYPES = {
  'p-chain': ['BanffStandardBlock', 'BanffStandardBlock', 'BanffProposalBlock', 'BanffCommitBlock'],
  'x-chain': ['StandardBlock'],
  'c-chain': ['StandardBlock'],
} as const;

/** Possible numbers of transactions of a block. */
const COUNTS = [1, 0, 1, 2, 1, 1, 3, 1];

/** The blocks of one primary-network chain, each computed from its height alone. */
export class Blocks {
  readonly chain: PrimaryChain;
  readonly proposers: Proposers;
  readonly #seed: number;
  readonly #genesisSec: number;
  readonly #roundSec: number;
  readonly #ids: IdSpaces;
  readonly #nodeIds: readonly string[];

  /** @param blocksPerHour number of blocks per hour of each seat that validates */
  constructor(
    seed: number,
    chain: PrimaryChain,
    genesisSec: number,
    blocksPerHour: number,
    ids: IdSpaces,
    validators: Validators,
  ) {
    this.chain = chain;
    this.#seed = derive(seed, `blocks ${chain.alias}`);
    this.#genesisSec = genesisSec;
    this.#roundSec = 3600 / blocksPerHour;
    this.#ids = ids;
    this.#nodeIds = validators.nodes.map((node) => node.nodeId);
    this.proposers = new Proposers(validators.stakes, genesisSec, this.#roundSec);
  }

  /**
   * Returns the timestamp (Unix seconds) of a height. Timestamps never decrease. In one of 16 pairs of
   * rounds, all blocks have the same timestamp.
   */
  time(height: number): number {
    const pair = Math.floor(height / this.proposers.seats / 2);
    if (mix(this.#seed, pair, 1) % 16 === 0)
      return this.#genesisSec + Math.floor((2 * pair + 1) * this.#roundSec);
    const position = (height + unit(this.#seed, height, 2)) / this.proposers.seats;
    return this.#genesisSec + Math.floor(position * this.#roundSec);
  }

  /**
   * Returns the height of the last block with a timestamp of at most `sec`. Returns -1 before the genesis.
   */
  heightAt(sec: number): number {
    const guess = ((sec - this.#genesisSec) / this.#roundSec) * this.proposers.seats;
    let low = -1;
    let high = Math.max(0, Math.ceil(guess) + 3 * this.proposers.seats);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.time(middle) <= sec) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the number of blocks that a seat proposed with a timestamp of at most `sec`. */
  countUntil(seat: number, sec: number): number {
    let low = 0;
    let high = this.proposers.total(seat);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.time(this.proposers.height(seat, middle)) <= sec) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the id of a block, as `0x` hex on the C-chain and in cb58 on the other chains. */
  hash(height: number): string {
    if (height < 0) return this.chain.number === 2 ? `0x${'0'.repeat(64)}` : EMPTY_ID;
    const space = this.chain.number === 2 ? this.#ids.hash : this.#ids.primary;
    return space.encode(KIND.block + this.chain.number, height);
  }

  /** Returns the height of a block id. Returns undefined for an id that is not a block of this chain. */
  heightOf(hash: string): number | undefined {
    const space = this.chain.number === 2 ? this.#ids.hash : this.#ids.primary;
    const meaning = space.decode(hash);
    return meaning?.kind === KIND.block + this.chain.number ? meaning.number : undefined;
  }

  /** Returns the numbers of the transactions in a block. Four numbers are reserved for each height. */
  transactionNumbers(height: number): number[] {
    const count = COUNTS[mix(this.#seed, height, 3) & 7] ?? 1;
    const numbers: number[] = [];
    for (let i = 0; i < count; i += 1) numbers.push(height * 4 + i);
    return numbers;
  }

  /** Returns the id of a transaction. */
  transactionId(number: number): string {
    return this.#ids.primary.encode(KIND.transaction + this.chain.number, number);
  }

  /**
   * Returns the number of a transaction id. Returns undefined if no block contains the transaction by a time
   * (Unix seconds).
   */
  transactionOf(id: string, sec: number): number | undefined {
    const meaning = this.#ids.primary.decode(id);
    if (meaning?.kind !== KIND.transaction + this.chain.number) return undefined;
    const height = Math.floor(meaning.number / 4);
    const included = this.transactionNumbers(height).includes(meaning.number) && this.time(height) <= sec;
    return included ? meaning.number : undefined;
  }

  /** Returns the supply of the network at a time in nAVAX, as a decimal string. */
  supply(sec: number): string {
    return `${430_000_000 + Math.floor((sec - this.#genesisSec) * 0.29)}123456789`;
  }

  /**
   * Returns a block as JSON text. The text is concatenated without {@link writeJson}, because tests page
   * through a million blocks.
   */
  text(height: number): string {
    const { alias, number } = this.chain;
    const id = this.#ids.primary;
    const kind = KIND.proposal + number;
    const time = this.time(height);
    const transactions = this.transactionNumbers(height);
    let list = '';
    for (const one of transactions) list += `${list === '' ? '' : ','}"${this.transactionId(one)}"`;
    const size = 320 + transactions.length * 410 + (mix(this.#seed, height, 5) & 127);
    const seat = this.proposers.seatOf(height);
    const platform =
      number === 0
        ? `,"l1ValidatorsAccruedFees":${(time - this.#genesisSec) * 5120},"activeL1Validators":${12 + (mix(this.#seed, height >>> 8) % 4)},"currentSupply":"${this.supply(time)}"`
        : '';
    return (
      `{"blockNumber":"${height}","blockHash":"${this.hash(height)}","parentHash":"${this.hash(height - 1)}",` +
      `"blockTimestamp":${time},"blockType":"${pick(TYPES[alias], this.#seed, height, 4)}",` +
      `"txCount":${transactions.length},"transactions":[${list}],"blockSizeBytes":${size}${platform},` +
      `"proposerDetails":{"proposerId":"${id.encode(kind, height)}","proposerParentId":"${height === 0 ? EMPTY_ID : id.encode(kind, height - 1)}",` +
      `"proposerNodeId":"${this.#nodeIds[seat]}","proposerPChainHeight":${Math.max(0, height - 12)},"proposerTimestamp":${time}}}`
    );
  }
}
