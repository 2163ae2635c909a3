import { BASE58 } from './base58.ts';
import { IdSpace } from './id-space.ts';

/** The kinds of things whose ids can be read back. */
export const KIND = {
  block: 0,
  proposal: 3,
  transaction: 6,
  staking: 9,
  subnetTransaction: 10,
  evmTransaction: 16,
  deployment: 17,
  evmBlock: 18,
  account: 32,
  contract: 33,
  collection: 34,
  token: 35,
  counterparty: 36,
} as const;

/** The id spaces of one network: P/X ids, EVM hashes, EVM addresses. */
export interface IdSpaces {
  readonly primary: IdSpace;
  readonly hash: IdSpace;
  readonly address: IdSpace;
}

/** The id spaces that belong to a seed. */
export function idSpaces(seed: number): IdSpaces {
  return {
    primary: new IdSpace(seed, { alphabet: BASE58, wordLength: 12, prefix: '2' }),
    hash: new IdSpace(seed, { alphabet: '0123456789abcdef', wordLength: 16, prefix: '0x' }),
    address: new IdSpace(seed, { alphabet: '0123456789abcdefABCDEF', wordLength: 10, prefix: '0x' }),
  };
}
