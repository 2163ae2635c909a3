import { erc1155Transfers } from '../../src/datasets/chain-data/erc1155-transfers.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import type { UpstreamClient } from '../../src/datasets/contract.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { block } from './blocks.ts';

/** An item of a simulated chain, and when its index shows it; ms since 1970. */
export interface LateBlock {
  readonly number: number;
  /** Several items may have one height. Default: the number. */
  readonly height?: number;
  readonly at: number;
  readonly indexedAt: number;
  /** When the index hides it, ms since 1970; inclusive start, exclusive end. Default: never. */
  readonly hidden?: { readonly from: number; readonly to: number } | undefined;
  /** The time in responses, ms since 1970. Default: `at`. */
  readonly statedTime?: number;
}

const statedSeconds = ({ at, statedTime = at }: LateBlock) => statedTime / 1000;

export const heightOf = ({ number, height = number }: LateBlock): number => height;

/** Behaviour of an index. */
export interface Answers {
  /** Maximum number of items of one page. */
  readonly page: number;
  /**
   * The number of the last read item, or the number of read ones: then a later page repeats items if others appeared
   * meanwhile.
   */
  readonly tokens?: 'keyset' | 'offset';
  readonly oldestFirst?: boolean;
  /** Lets time pass with a call. */
  readonly onCall?: () => void;
  /** The failure of a call; null: none. @param isNextPage it has a token */
  readonly failure?: (call: number, isNextPage: boolean) => UpstreamFailure['kind'] | null;
}

/** A service whose index shows each item late, as blocks, as the transactions in them, or as points. */
export class LateIndex {
  readonly blocks: readonly LateBlock[];
  readonly #now: () => number;
  readonly #answers: Answers;
  calls = 0;

  constructor(blocks: readonly LateBlock[], now: () => number, answers: Answers) {
    this.blocks = blocks;
    this.#now = now;
    this.#answers = answers;
  }

  readonly client: Pick<UpstreamClient, 'get' | 'pageSize'> = {
    pageSize: (maximum) => Math.min(maximum, this.#answers.page),
    get: async (path, query = {}) => {
      const { tokens = 'keyset', oldestFirst = false, onCall, failure } = this.#answers;
      this.calls += 1;
      onCall?.();
      const { startTimestamp = 0, endTimestamp = Infinity, startBlock = 0, endBlock = Infinity } = query;
      const { pageToken, pageSize } = query;
      const kind = failure?.(this.calls, pageToken !== undefined);
      if (kind) throw new UpstreamFailure(kind, `the call ${this.calls} fails`);
      const sign = oldestFirst ? -1 : 1;
      const visible = this.blocks
        .filter(
          (one) =>
            one.indexedAt <= this.#now() &&
            !(one.hidden && one.hidden.from <= this.#now() && this.#now() < one.hidden.to) &&
            one.at / 1000 >= Number(startTimestamp) &&
            one.at / 1000 <= Number(endTimestamp) &&
            heightOf(one) >= Number(startBlock) &&
            heightOf(one) < Number(endBlock),
        )
        .sort((a, b) => sign * (b.number - a.number));
      const isRead = ({ number }: LateBlock) => sign * (number - Number(pageToken)) >= 0;
      const read =
        pageToken === undefined
          ? 0
          : tokens === 'offset'
            ? Number(String(pageToken).split('/')[0])
            : visible.filter(isRead).length;
      const page = visible.slice(read, read + Number(pageSize));
      const next = tokens === 'offset' ? `${read + page.length}/${this.calls}` : page.at(-1)?.number;
      return {
        blocks: page.map((one) => block(one.number, statedSeconds(one))),
        transactions: page.map((one) => transaction(path, one)),
        results: page.map(({ number, at }) => ({ timestamp: at / 1000, value: number })),
        ...(read + page.length < visible.length && { nextPageToken: String(next) }),
      };
    },
  };
}

const examples = [
  ['listStaking', stakingTransactions],
  ['listErc1155', erc1155Transfers],
  ['listNative', nativeTransactions],
] as const;

const transaction = (path: string, one: LateBlock) => ({
  ...examples.find(([operation]) => path.endsWith(operation))?.[1].example,
  blockNumber: String(heightOf(one)),
  blockTimestamp: statedSeconds(one),
  txHash: `0x${one.number}`,
  chainId: undefined,
  from: { address: '0x1' },
});
