import type { EvmNetwork } from '../evm/evm-network.ts';
import { CURRENCIES, type Currency } from '../evm/prices.ts';
import { lowerBound } from '../evm/sequence.ts';
import { Refusal } from '../http/answer.ts';
import { type PathParts, part } from '../http/operation.ts';
import type { Numbers } from '../http/paging.ts';
import type { Query } from '../http/query.ts';
import { isId } from '../ids/base58.ts';

/** The EVM chains by chain id and, if they have one, by blockchain id. */
export type EvmNetworks = ReadonlyMap<string, EvmNetwork>;

/** Returns the chain of a path. */
export function evmNetworkOf(networks: EvmNetworks, parts: PathParts): EvmNetwork {
  const id = part(parts, 'chainId');
  if (!/^\d{1,20}$/.test(id) && !isId(id))
    throw new Refusal(400, ['chainId must be a valid chain id or blockchain id']);
  const network = networks.get(id);
  if (network === undefined) throw new Refusal(404, `Chain ${id} not found`);
  return network;
}

/** Returns the address of a path, in the case of the path. Refuses an invalid address. */
export function addressOf(parts: PathParts): string {
  const address = part(parts, 'address');
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new Refusal(400, ['address must be a valid Ethereum address']);
  return address;
}

/** Returns the currency of prices. Default: `usd`. */
export function currencyOf(query: Query): Currency {
  return query.choice('currency', CURRENCIES) ?? 'usd';
}

/**
 * Returns the transactions of an account from `startBlock` (inclusive) to `endBlock` (exclusive), up to a
 * time (Unix seconds).
 */
export function transactionsIn(network: EvmNetwork, account: number, query: Query, sec: number): Numbers {
  const startBlock = query.integer('startBlock', { min: 0 }) ?? 0;
  const endBlock = query.integer('endBlock', { min: 0 }) ?? Number.MAX_SAFE_INTEGER;
  query.check();
  const count = network.countUntil(account, sec);
  const before = (block: number): number =>
    lowerBound(count, (number) => network.block({ account, number }) < block);
  return { from: before(startBlock), to: before(endBlock) };
}
