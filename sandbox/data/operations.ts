import type { Operation } from '../http/operation.ts';
import type { PageTokens } from '../http/page-tokens.ts';
import { balances } from './balances.ts';
import { evmBalances } from './evm-balances.ts';
import { evmContracts } from './evm-contracts.ts';
import { evmLists } from './evm-lists.ts';
import type { EvmNetworks } from './evm-request.ts';
import type { Networks } from './networks.ts';
import { nftTokens } from './nft-tokens.ts';
import { pendingRewards } from './pending-rewards.ts';
import { proposedBlocks } from './proposed-blocks.ts';
import { signatures } from './signatures.ts';
import { stakingTransactions } from './staking-transactions.ts';
import { subnets } from './subnets.ts';

/** Parts of the network that the chain data service serves. */
export interface Served {
  readonly networks: Networks;
  readonly evm: EvmNetworks;
  readonly tokens: PageTokens;
  /** Lag of the index of blocks, in simulated ms. */
  readonly lagMs: number;
}

/** The 16 operations of the chain data service. */
export function dataOperations({ networks, evm, tokens, lagMs }: Served): Operation[] {
  return [
    proposedBlocks(networks, tokens, lagMs),
    stakingTransactions(networks, tokens),
    subnets(networks, tokens),
    balances(networks),
    pendingRewards(networks, tokens),
    ...signatures(networks),
    ...evmLists(evm, tokens),
    ...evmBalances(evm, tokens),
    ...evmContracts(evm, tokens),
    ...nftTokens(evm, tokens),
  ];
}
