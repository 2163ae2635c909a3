import type { Operation } from '../http/operation.ts';
import { balances } from './balances.ts';
import type { DataService } from './data-service.ts';
import { evmBalances } from './evm-balances.ts';
import { evmContracts } from './evm-contracts.ts';
import { evmLists } from './evm-lists.ts';
import { nftTokens } from './nft-tokens.ts';
import { pendingRewards } from './pending-rewards.ts';
import { proposedBlocks } from './proposed-blocks.ts';
import { signatures } from './signatures.ts';
import { stakingTransactions } from './staking-transactions.ts';
import { subnets } from './subnets.ts';

/** Functions that return the operations of the service, by kind of result. */
const KINDS = [
  proposedBlocks,
  stakingTransactions,
  subnets,
  balances,
  pendingRewards,
  signatures,
  evmLists,
  evmBalances,
  evmContracts,
  nftTokens,
];

/** The operations of the chain data service. */
export const dataOperations = (service: DataService): Operation[] => KINDS.flatMap((kind) => kind(service));
