import type { EvmChain } from '../network/evm-chains.ts';
import type { Network } from '../network/network.ts';
import type { NetworkName } from '../network/primary-chains.ts';
import { EvmNetwork } from './evm-network.ts';

/**
 * Returns the EVM chains of both networks by chain id, and by blockchain id if a subnet or the C-chain has
 * one.
 */
export function evmNetworks(
  chains: readonly EvmChain[],
  networks: Readonly<Record<NetworkName, Network>>,
): Map<string, EvmNetwork> {
  const found = new Map<string, EvmNetwork>();
  for (const chain of chains) {
    const home = networks[chain.network];
    const network = new EvmNetwork(chain, home.seed, home.ids, home.facts);
    found.set(chain.chainId, network);
    const own = home.subnets
      .flatMap((subnet) => subnet.chains)
      .find((one) => String(one.evmChainId) === chain.chainId);
    const blockchainId = chain.number < 2 ? home.chain('c-chain')?.blockchainId : own?.blockchainId;
    if (blockchainId !== undefined) found.set(blockchainId, network);
  }
  return found;
}
