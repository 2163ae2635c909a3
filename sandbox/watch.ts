import { contractsOf } from './evm/contracts.ts';
import type { EvmNetwork } from './evm/evm-network.ts';
import type { Network } from './network/network.ts';
import type { SimulatedNode } from './node/simulated-node.ts';

/** An address, contract or collection on an EVM chain. */
interface ChainAddress {
  readonly chain: string;
  readonly address: string;
}

/** Targets of this sandbox for the `watch` of a recorder. */
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

/** Returns the useful targets of the main network at a time (Unix seconds). */
export function watchList(
  network: Network,
  evm: readonly EvmNetwork[],
  nodes: readonly SimulatedNode[],
  sec: number,
): Watch {
  // The twelfth validator leaves and returns.
  const seats = [0, 1, 2, 11].flatMap((seat) => network.validators.nodes[seat] ?? []);
  const accounts = network.accounts.all.slice(0, 3);
  const alive = evm.filter((one) => one.chain.perHour > 0);
  const here = alive.filter((one) => one.chain.network === network.name);
  const contracts = here.flatMap((one) =>
    contractsOf(one, 0, sec)
      .slice(0, 4)
      .map((contract) => ({ one, contract })),
  );
  const nfts = contracts.filter(
    ({ contract }) => contract.type === 'ERC-721' || contract.type === 'ERC-1155',
  );
  return {
    chains: alive.map((one) => one.chain.chainId),
    nodeIds: seats.map((node) => node.nodeId),
    addresses: [
      ...accounts.flatMap(({ address }) => [`P-${address}`, `X-${address}`]),
      ...accounts.map(({ address }) => `C-${address}`),
    ],
    evmAddresses: here.flatMap((one) =>
      [0, 1, 2].map((account) => ({ chain: one.chain.chainId, address: one.address(account) })),
    ),
    contracts: contracts.map(({ one, contract }) => ({
      chain: one.chain.chainId,
      address: contract.address,
    })),
    collections: nfts.map(({ one, contract }) => ({ chain: one.chain.chainId, address: contract.address })),
    transactions: here
      .filter((one) => one.countUntil(0, sec) > 3)
      .flatMap((one) =>
        [0, 1, 2].map((number) => ({ chain: one.chain.chainId, hash: one.hash({ account: 0, number }) })),
      ),
    assets: network.assets.map((asset) => asset.assetId),
    nodes: nodes.map(({ name, path }) => ({ name, path })),
  };
}
