import { defineDataset } from '../dataset.ts';
import { decimal, object } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';
import { PRIMARY_NETWORK, subnetParams } from './current-validators.ts';

/**
 * Uptime of this node as observed by the validators, weighted by their stake (info.uptime). The call fails on
 * a node that is no validator.
 */
const source = nodeMethod({
  name: 'node-reported-uptime',
  path: '/ext/info',
  method: 'info.uptime',
  every: 10 * minute,
  about: () => [{ subnetId: PRIMARY_NETWORK }],
  params: subnetParams,
});

export const nodeReportedUptime = defineDataset({
  name: 'node_reported_uptime',
  about: 'Uptime of a node as observed by the validators of the network, as reported by info.uptime.',
  operations: ['info.uptime'],
  history: 'sample',
  source,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id'],
  items: (body) => [body],
  item: object({
    rewardingStakePercentage: decimal(
      'Share of the stake that observes this node above the uptime requirement, in percent.',
    ),
    weightedAveragePercentage: decimal('Stake-weighted average of the observed uptime, in percent.'),
  }),
  example: { rewardingStakePercentage: '100.0000', weightedAveragePercentage: '99.0000' },
});

export const { table: nodeReportedUptimeTable } = nodeReportedUptime;
