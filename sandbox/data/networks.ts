import { Refusal } from '../http/answer.ts';
import { type PathParts, part } from '../http/operation.ts';
import type { JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import type { NetworkName, PrimaryChain } from '../network/primary-chains.ts';

/** The simulated networks by name. */
export type Networks = Readonly<Record<NetworkName, Network>>;

/**
 * Returns the network of a path. The sandbox refuses the names of public networks, so that its data cannot be
 * mistaken for real data.
 */
export function networkOf(networks: Networks, parts: PathParts): Network {
  const name = part(parts, 'network');
  if (name === 'sandbox') return networks.sandbox;
  if (name === 'sandbox-2') return networks['sandbox-2'];
  throw new Refusal(400, ['network must be one of the following values: sandbox, sandbox-2']);
}

/** Returns the primary-network chain of a path. */
export function chainOf(network: Network, parts: PathParts): PrimaryChain {
  const chain = network.chain(part(parts, 'blockchainId'));
  if (chain === undefined)
    throw new Refusal(400, ['blockchainId must be a valid primary network blockchain id or alias']);
  return chain;
}

/** Returns the chainInfo of an answer. */
export function chainInfo(network: Network, chain: PrimaryChain): JsonObject {
  return { chainName: chain.alias, network: network.name };
}
