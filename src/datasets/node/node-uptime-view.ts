import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { decimal, object } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';

/** How the network's stake sees this node (seed node-rpc 4.2, info.uptime); an error on a node that validates nothing. */
const source: Source = {
  name: 'node-uptime-view',
  upstream: 'nodes',
  every: 10 * minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes }) => nodes.map((node) => ({ node, subnetId: PRIMARY_NETWORK })),
  async *walk(ask, { subnetId }) {
    const params = subnetId === PRIMARY_NETWORK ? {} : { subnetID: subnetId };
    yield { body: await ask.rpc('/ext/info', 'info.uptime', params), proven: null, last: true, whole: true };
  },
};

export const nodeUptimeView = defineDataset({
  name: 'node_uptime_view',
  about: "The network's view of a node's uptime, as info.uptime tells it.",
  seed: 'node-rpc 4.2',
  operations: ['info.uptime'],
  history: 'sample',
  source,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id'],
  items: (body) => [body],
  item: object({
    rewardingStakePercentage: decimal(
      'Share of stake that sees this node above the uptime requirement, in percent.',
    ),
    weightedAveragePercentage: decimal('Stake-weighted average of the observed uptime, in percent.'),
  }),
  example: { rewardingStakePercentage: '100.0000', weightedAveragePercentage: '99.0000' },
});

export const { table: nodeUptimeViewTable } = nodeUptimeView;
