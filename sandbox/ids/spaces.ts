import { BASE58 } from './base58.ts';
import { IdSpace } from './id-space.ts';

/** The kinds of things whose ids can be read back; those of blocks are followed by one for each further chain. */
export const KIND = {
  block: 0,
  proposal: 3,
  transaction: 6,
  staking: 9,
  subnetTransaction: 10,
  utxo: 11,
  evmBlock: 16,
  evmTransaction: 24,
  deployment: 25,
  account: 32,
  contract: 33,
  counterparty: 34,
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
