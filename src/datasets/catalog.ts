import { proposedBlocks } from './chain-data/proposed-blocks.ts';
import type { Dataset, Source } from './contract.ts';
import { averageTps } from './metrics/average-tps.ts';
import { metricPoints } from './metrics/metric-points.ts';
import { chainHeights } from './node/chain-heights.ts';
import { currentSupply } from './node/current-supply.ts';
import { networkFees } from './node/network-fees.ts';
import { networkProposals } from './node/network-proposals.ts';
import { networkUpgrades } from './node/network-upgrades.ts';
import { nodeBlockchains } from './node/node-blockchains.ts';
import { nodeHealth } from './node/node-health.ts';
import { nodeIdentity } from './node/node-identity.ts';
import { nodeUptimeView } from './node/node-uptime-view.ts';
import { pBalances } from './node/p-balances.ts';
import { pBlocks } from './node/p-blocks.ts';
import { peerReadings } from './node/peer-readings.ts';
import { peers } from './node/peers.ts';
import { validatorDelegators } from './node/validator-delegators.ts';
import { validatorUptime } from './node/validator-uptime.ts';
import { validators } from './node/validators.ts';
import { xAssets } from './node/x-assets.ts';
import { xBalances } from './node/x-balances.ts';
import { xBlocks } from './node/x-blocks.ts';
import { xTransactions } from './node/x-transactions.ts';
import { xUtxos } from './node/x-utxos.ts';

/** Every dataset, in the order in which people meet them. Nothing else lists datasets. */
export const catalog: readonly Dataset[] = [
  metricPoints,
  averageTps,
  proposedBlocks,
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
  nodeBlockchains,
  chainHeights,
  currentSupply,
  nodeIdentity,
  networkFees,
  networkUpgrades,
  networkProposals,
  peers,
  peerReadings,
  nodeUptimeView,
  nodeHealth,
];

/** The dataset of that name; undefined where there is none. */
export function datasetNamed(name: string): Dataset | undefined {
  return catalog.find((dataset) => dataset.name === name);
}

/** The sources of the catalog, each with its datasets; the first is the one that leads. */
export const feeds: readonly Feed[] = [...new Set(catalog.map(({ source }) => source))].map((source) => ({
  source,
  datasets: catalog.filter((dataset) => dataset.source === source),
}));

/** A source with the datasets that are recorded from its answers, together in one run. */
export interface Feed {
  readonly source: Source;
  readonly datasets: readonly Dataset[];
}
