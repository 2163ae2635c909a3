import { proposedBlocks } from './chain-data/proposed-blocks.ts';
import type { Dataset, Source } from './contract.ts';
import { averageTps } from './metrics/average-tps.ts';
import { metricPoints } from './metrics/metric-points.ts';
import { nodeHealth } from './node/node-health.ts';
import { nodeIdentity } from './node/node-identity.ts';
import { nodeUptimeView } from './node/node-uptime-view.ts';
import { validatorUptime } from './node/validator-uptime.ts';
import { validators } from './node/validators.ts';

/** Every dataset, in the order in which people meet them. Nothing else lists datasets. */
export const catalog: readonly Dataset[] = [
  metricPoints,
  averageTps,
  proposedBlocks,
  validators,
  validatorUptime,
  nodeIdentity,
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
