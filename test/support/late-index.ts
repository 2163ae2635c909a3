import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import type { Ask } from '../../src/datasets/contract.ts';
import { block } from './blocks.ts';

/** A block of a simulated chain, and when its index shows it; ms since 1970. */
export interface LateBlock {
  readonly number: number;
  readonly at: number;
  readonly shownAt: number;
}

/**
 * A service whose index shows each block late, as a list of blocks or of the transactions in them: newest first, with tokens
 * that name the last block of a page.
 */
export class LateIndex {
  readonly blocks: readonly LateBlock[];
  readonly #now: () => number;
  readonly #page: number;
  calls = 0;

  constructor(blocks: readonly LateBlock[], now: () => number, page: number) {
    this.blocks = blocks;
    this.#now = now;
    this.#page = page;
  }

  readonly ask: Pick<Ask, 'get' | 'pageSize'> = {
    pageSize: (most) => Math.min(most, this.#page),
    get: async (path, query = {}) => {
      this.calls += 1;
      const { startTimestamp = 0, endTimestamp = Infinity, startBlock = 0, endBlock = Infinity } = query;
      const { pageToken, pageSize } = query;
      const below = pageToken === undefined ? Infinity : Number(pageToken);
      const shown = this.blocks
        .filter(
          ({ number, at, shownAt }) =>
            shownAt <= this.#now() &&
            at / 1000 >= Number(startTimestamp) &&
            at / 1000 <= Number(endTimestamp) &&
            number >= Number(startBlock) &&
            number < Math.min(below, Number(endBlock)),
        )
        .sort((a, b) => b.number - a.number);
      const page = shown.slice(0, Number(pageSize));
      const last = page.at(-1);
      return {
        blocks: page.map(({ number, at }) => block(number, at / 1000)),
        transactions: page.map(({ number, at }) => transaction(path, number, at / 1000)),
        ...(last && shown.length > page.length ? { nextPageToken: String(last.number) } : {}),
      };
    },
  };
}

const transaction = (path: string, number: number, seconds: number) => ({
  ...(path.endsWith('listStaking') ? stakingTransactions : nativeTransactions).example,
  blockNumber: String(number),
  blockTimestamp: seconds,
  txHash: `0x${number}`,
  chainId: undefined,
  from: { address: '0x1' },
});
