import { aggregatedSignatures } from './chain-data/aggregated-signatures.ts';
import { blockchains } from './chain-data/blockchains.ts';
import { deployedContracts } from './chain-data/deployed-contracts.ts';
import { deploymentTransactions } from './chain-data/deployment-transactions.ts';
import { erc1155Balances } from './chain-data/erc1155-balances.ts';
import { erc1155Transfers } from './chain-data/erc1155-transfers.ts';
import { evmTransactions } from './chain-data/evm-transactions.ts';
import { genesisData } from './chain-data/genesis-data.ts';
import { nativeBalanceValues } from './chain-data/native-balance-values.ts';
import { nativeBalances } from './chain-data/native-balances.ts';
import { nativeTransactions } from './chain-data/native-transactions.ts';
import { nftTokens } from './chain-data/nft-tokens.ts';
import { pendingRewardProgress } from './chain-data/pending-reward-progress.ts';
import { pendingRewards } from './chain-data/pending-rewards.ts';
import { primaryBalances } from './chain-data/primary-balances.ts';
import { proposedBlocks } from './chain-data/proposed-blocks.ts';
import { stakingTransactions } from './chain-data/staking-transactions.ts';
import { subnets } from './chain-data/subnets.ts';
import type { Dataset, Feed } from './contract.ts';
import { averageTps } from './metrics/average-tps.ts';
import { metricPoints } from './metrics/metric-points.ts';
import { chainHeights } from './node/chain-heights.ts';
import { currentSupply } from './node/current-supply.ts';
import { nodeFees } from './node/fees.ts';
import { nodeIdentity } from './node/node-identity.ts';
import { nodeReportedUptime } from './node/node-reported-uptime.ts';
import { pBalances } from './node/p-balances.ts';
import { pBlockchains } from './node/p-blockchains.ts';
import { pBlocks } from './node/p-blocks.ts';
import { peerReadings } from './node/peer-readings.ts';
import { peers } from './node/peers.ts';
import { nodeProposals } from './node/proposals.ts';
import { nodeUpgrades } from './node/upgrades.ts';
import { validatorDelegators } from './node/validator-delegators.ts';
import { validatorUptime } from './node/validator-uptime.ts';
import { validators } from './node/validators.ts';
import { xAssets } from './node/x-assets.ts';
import { xBalances } from './node/x-balances.ts';
import { xBlocks } from './node/x-blocks.ts';
import { xTransactions } from './node/x-transactions.ts';
import { xUtxos } from './node/x-utxos.ts';

/** The only list of the datasets that runs record, in documentation order. */
export const catalog: readonly Dataset[] = [
  metricPoints,
  averageTps,
  stakingTransactions,
  subnets,
  blockchains,
  genesisData,
  primaryBalances,
  pendingRewards,
  pendingRewardProgress,
  proposedBlocks,
  nativeTransactions,
  erc1155Transfers,
  nativeBalances,
  nativeBalanceValues,
  erc1155Balances,
  deployedContracts,
  deploymentTransactions,
  evmTransactions,
  nftTokens,
  aggregatedSignatures,
  validators,
  validatorUptime,
  validatorDelegators,
  pBlocks,
  xBlocks,
  xTransactions,
  xAssets,
  xUtxos,
  xBalances,
  pBalances,
  pBlockchains,
  chainHeights,
  currentSupply,
  nodeIdentity,
  nodeFees,
  nodeUpgrades,
  nodeProposals,
  peers,
  peerReadings,
  nodeReportedUptime,
];

/** Returns the dataset with a name. Returns undefined if runs record no such dataset. */
export function findDataset(name: string): Dataset | undefined {
  return catalog.find((dataset) => dataset.name === name);
}

/**
 * Sources of the catalog, each with its datasets. The items of the first dataset determine the progress of an
 * index.
 */
export const feeds: readonly Feed[] = [...new Set(catalog.map(({ source }) => source))].map((source) => ({
  source,
  datasets: catalog.filter((dataset) => dataset.source === source),
}));
