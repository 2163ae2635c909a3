import type { Facts } from '../facts.ts';
import type { IdSpaces } from '../ids/spaces.ts';
import { KIND } from '../ids/spaces.ts';
import type { EvmChain } from '../network/evm-chains.ts';
import { DAY } from '../network/periods.ts';
import { derive, mix } from '../random.ts';
import { Sequence } from './sequence.ts';

/** Mean interval of the transactions of each watched account of a chain, from busy to quiet, in seconds. */
const INTERVALS = [900, 7_200, DAY] as const;
const PER_ACCOUNT = 2 ** 28;

/** A transaction of an account of a chain, by its number. */
export interface TransactionKey {
  readonly account: number;
  readonly number: number;
}

/** One EVM chain with its accounts. All objects of the chain are computed from their numbers. */
export class EvmNetwork {
  readonly chain: EvmChain;
  readonly ids: IdSpaces;
  readonly seed: number;
  readonly facts: Facts;
  readonly #activity: readonly Sequence[];

  constructor(chain: EvmChain, seed: number, ids: IdSpaces, facts: Facts) {
    this.facts = facts;
    this.chain = chain;
    this.ids = ids;
    this.seed = derive(seed, `evm ${chain.chainId}`);
    this.#activity = INTERVALS.map(
      (interval, i) => new Sequence(this.seed + i, chain.launchSec + DAY, interval),
    );
  }

  /** Number of accounts with transactions. */
  get accounts(): number {
    return this.#activity.length;
  }

  /**
   * Returns the number of the block at a time (Unix seconds). There is a block every two seconds from the
   * launch on.
   */
  blockAt(sec: number): number {
    return Math.floor((sec - this.chain.launchSec) / 2);
  }

  blockTime(block: number): number {
    return this.chain.launchSec + block * 2;
  }

  blockHash(block: number): string {
    return this.ids.hash.encode(KIND.evmBlock + this.chain.number, block);
  }

  address(account: number): string {
    return this.ids.address.encode(KIND.account, this.chain.number * 64 + account);
  }

  /**
   * Returns the account of an address of this chain. Returns undefined for an address without transactions.
   */
  account(address: string): number | undefined {
    const meaning = this.ids.address.decode(address);
    if (meaning?.kind !== KIND.account) return undefined;
    const account = meaning.number - this.chain.number * 64;
    return account >= 0 && account < this.accounts ? account : undefined;
  }

  /** Returns an address outside of `watch`. */
  counterparty(key: number): string {
    return this.ids.address.encode(KIND.counterparty, mix(this.seed, key, 3) % 500);
  }

  /** Returns the block of an account's transaction. */
  block(key: TransactionKey): number {
    const activity = this.#activity[key.account];
    return activity === undefined ? 0 : this.blockAt(activity.time(key.number));
  }

  /** Returns the number of transactions of an account at a time (Unix seconds). */
  countUntil(account: number, sec: number): number {
    return this.#activity[account]?.countUntil(sec) ?? 0;
  }

  hash(key: TransactionKey): string {
    return this.ids.hash.encode(
      KIND.evmTransaction,
      (this.chain.number * 64 + key.account) * PER_ACCOUNT + key.number,
    );
  }

  /**
   * Returns the transaction with a hash. Returns undefined if the hash belongs to another object or another
   * chain.
   */
  key(hash: string): TransactionKey | undefined {
    const meaning = this.ids.hash.decode(hash);
    if (meaning?.kind !== KIND.evmTransaction) return undefined;
    const account = Math.floor(meaning.number / PER_ACCOUNT) - this.chain.number * 64;
    if (account < 0 || account >= this.accounts) return undefined;
    return { account, number: meaning.number % PER_ACCOUNT };
  }
}
