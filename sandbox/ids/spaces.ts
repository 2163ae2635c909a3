import { bytesOfCb58, cb58 } from './base58.ts';
import { evmAddress } from './evm-address.ts';
import { type IdShape, IdSpace } from './id-space.ts';

/**
 * The kinds of objects with decodable ids. Each kind that exists per chain is followed by one number for each
 * further chain.
 */
export const KIND = {
  block: 0,
  proposal: 3,
  transaction: 6,
  staking: 9,
  returned: 12,
  event: 13,
  memberChange: 14,
  reward: 15,
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

const PRIMARY: IdShape = {
  name: 'primary',
  wordBytes: 8,
  write: cb58,
  read: (id) => bytesOfCb58(id, 32),
};

/** Returns a parser of `0x` hex of this many bytes, in any case. */
function readHex(size: number): (id: string) => Buffer | undefined {
  const pattern = new RegExp(`^0[xX][0-9a-fA-F]{${2 * size}}$`);
  return (id) => (pattern.test(id) ? Buffer.from(id.slice(2), 'hex') : undefined);
}

const HASH: IdShape = {
  name: 'hash',
  wordBytes: 8,
  write: (bytes) => `0x${Buffer.from(bytes).toString('hex')}`,
  read: readHex(32),
};
const ADDRESS: IdShape = { name: 'address', wordBytes: 5, write: evmAddress, read: readHex(20) };

/** Returns the id spaces of a seed. */
export function idSpaces(seed: number): IdSpaces {
  return {
    primary: new IdSpace(seed, PRIMARY),
    hash: new IdSpace(seed, HASH),
    address: new IdSpace(seed, ADDRESS),
  };
}
