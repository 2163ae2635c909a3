import { KIND } from '../ids/spaces.ts';
import { DAY } from '../network/periods.ts';
import { mix } from '../random.ts';
import type { EvmNetwork } from './evm-network.ts';
import { lowerBound } from './sequence.ts';

type ErcType = 'ERC-20' | 'ERC-721' | 'ERC-1155' | 'UNKNOWN';

/**
 * A contract that an account deployed. `number` is its ordinal among the contracts of the account, from 0.
 */
export interface Contract {
  readonly account: number;
  readonly number: number;
  readonly address: string;
  readonly deploymentHash: string;
  /** Unix seconds. */
  readonly deployedAt: number;
  readonly type: ErcType;
  readonly name: string;
  readonly symbol: string;
}

const TYPES: readonly ErcType[] = ['ERC-20', 'ERC-721', 'ERC-1155', 'UNKNOWN'];
const PER_ACCOUNT = 1024;
/** Number of contracts of an account on the day after the launch. Later contracts follow every 25 days. */
const EARLY = 4;

function deployedAt(network: EvmNetwork, number: number): number {
  const days = number < EARLY ? number / 24 : (number - EARLY + 1) * 25;
  return network.blockTime(network.blockAt(network.chain.launchSec + Math.floor(days * DAY) + 60));
}

function contract(network: EvmNetwork, account: number, number: number): Contract {
  const key = (network.chain.number * 64 + account) * PER_ACCOUNT + number;
  return {
    account,
    number,
    address: network.ids.address.encode(KIND.contract, key),
    deploymentHash: network.ids.hash.encode(KIND.deployment, key),
    deployedAt: deployedAt(network, number),
    type: TYPES[number % TYPES.length] ?? 'UNKNOWN',
    name: `${network.chain.name} ${['Coin', 'Cats', 'Cards', 'Code'][number % 4]} ${number}`,
    symbol: `${network.chain.token.symbol}${number}`,
  };
}

/**
 * Returns the contracts that an account deployed by a time (Unix seconds), oldest first. The quietest account
 * has no contracts.
 */
export function contractsOf(network: EvmNetwork, account: number, sec: number): Contract[] {
  if (account >= network.accounts - 1) return [];
  const limit = account === 0 ? PER_ACCOUNT : EARLY;
  const count = lowerBound(limit, (number) => deployedAt(network, number) <= sec);
  return Array.from({ length: count }, (_, number) => contract(network, account, number));
}

function find(network: EvmNetwork, number: number, sec: number): Contract | undefined {
  const account = Math.floor(number / PER_ACCOUNT) - network.chain.number * 64;
  return contractsOf(network, account, sec)[number % PER_ACCOUNT];
}

/** Returns the contract at an address, if it was deployed by a time (Unix seconds). */
export function contractAt(network: EvmNetwork, address: string, sec: number): Contract | undefined {
  const meaning = network.ids.address.decode(address);
  return meaning?.kind === KIND.contract ? find(network, meaning.number, sec) : undefined;
}

/** Returns the contract that a transaction deployed. */
export function contractMadeBy(network: EvmNetwork, hash: string, sec: number): Contract | undefined {
  const meaning = network.ids.hash.decode(hash);
  return meaning?.kind === KIND.deployment ? find(network, meaning.number, sec) : undefined;
}

/** Returns the ERC-1155 contract whose tokens the accounts of a chain send. */
export function cards(network: EvmNetwork): Contract {
  return contract(network, 0, 2);
}

/** Returns the contract of another type that a transaction touched. */
export function touchedContract(network: EvmNetwork, type: 'ERC-20' | 'ERC-721', key: number): Contract {
  const offset = (mix(network.seed, key, 4) % 2) * TYPES.length;
  return contract(network, 0, TYPES.indexOf(type) + offset);
}
