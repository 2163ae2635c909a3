import type { Network } from './network/network.ts';
import type { SimulatedNode } from './node/simulated-node.ts';

/** An address, contract or collection on an EVM chain. */
export interface ChainAddress {
  readonly chain: string;
  readonly address: string;
}

/** What a recorder of this sandbox should watch, in the recorder's own terms. */
export interface Watch {
  readonly chains: readonly string[];
  readonly nodeIds: readonly string[];
  readonly addresses: readonly string[];
  readonly evmAddresses: readonly ChainAddress[];
  readonly contracts: readonly ChainAddress[];
  readonly collections: readonly ChainAddress[];
  readonly transactions: readonly { readonly chain: string; readonly hash: string }[];
  readonly assets: readonly string[];
  readonly nodes: readonly { readonly name: string; readonly path: string }[];
}

/** The parts of the main network that are worth watching; the twelfth validator comes and goes. */
export function watchList(
  network: Network,
  chains: readonly string[],
  nodes: readonly SimulatedNode[],
): Watch {
  const seats = [0, 1, 2, 11].flatMap((seat) => network.validators.nodes[seat] ?? []);
  const accounts = network.accounts.all.slice(0, 3);
  return {
    chains,
    nodeIds: seats.map((node) => node.nodeId),
    addresses: accounts.flatMap(({ address }) => [`P-${address}`, `X-${address}`]),
    evmAddresses: [],
    contracts: [],
    collections: [],
    transactions: [],
    assets: [],
    nodes: nodes.map(({ name, path }) => ({ name, path })),
  };
}
