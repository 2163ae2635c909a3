import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, optional, text, uint, unixSeconds } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/single-response.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';
import { ownerSet } from './owner-set.ts';
import { withStake } from './stake.ts';

/**
 * Delegators of a validator. Delegators are listed only if exactly one node id is requested
 * (upstream-services.md#validators-and-peers).
 */
const source: Source = {
  name: 'validator-delegators',
  upstream: 'nodes',
  every: 30 * minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes, watch }) =>
    nodes.flatMap((node) => watch.nodeIds.map((nodeId) => ({ node, subnetId: PRIMARY_NETWORK, nodeId }))),
  walk: (client, { nodeId }) =>
    walkSingleResponse(() => client.rpc('/ext/bc/P', 'platform.getCurrentValidators', { nodeIDs: [nodeId] })),
};

/**
 * Returns the delegators of a validator. A validator without a list has no delegators.
 * @throws UpstreamFailure (malformed) if a validator without a list has a count of delegators greater than 0
 */
function delegatorsOf(validator: unknown): readonly unknown[] {
  if (getMember(validator, 'delegators') !== undefined)
    return getList(validator, 'delegators', 'delegatorCount');
  const count = getMember(validator, 'delegatorCount');
  if (count !== undefined && count !== null && String(count) !== '0')
    throw new UpstreamFailure('malformed', `a validator has ${String(count)} delegators, but lists none`);
  return [];
}

export const validatorDelegators = defineDataset({
  name: 'validator_delegators',
  about:
    'Delegations to a watched validator as a node reports them, with all arrivals, changes and departures.',
  operations: ['platform.getCurrentValidators'],
  history: 'state',
  source,
  request: ['node', 'subnetId', 'nodeId'],
  key: ['node', 'subnet_id', 'node_id', 'start_time', 'tx_id'],
  endsAt: 'end_time',
  everyNode: { own: [] },
  items: (body, { subnetId }) =>
    getList(body, 'validators')
      .flatMap(delegatorsOf)
      .map((record) => withStake(record, subnetId)),
  states: { nodeId: ['nodeID'] },
  answerStates: { nodeId: ['validators.nodeID'] },
  ignore: ['nodeID'], // the id of the requested validator
  item: object({
    txID: text(),
    startTime: unixSeconds(),
    endTime: optional(unixSeconds()),
    weight: uint('In the unit of the subnet: nAVAX on the primary network.'),
    stakeNavax: optional(uint('Stake in nAVAX; null outside the primary network.')),
    rewardOwner: optional(ownerSet),
    potentialReward: optional(
      uint('In the smallest unit of the staked asset: nAVAX on the primary network.'),
    ),
  }),
  example: {
    txID: 'Bbai8nzGVcyn2VmeYcbS74zfjJLjDacGNVuzuvAQkHn1uWfoV',
    startTime: '1763000523',
    endTime: '1794535342',
    weight: '25000000000',
    nodeID: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD',
    rewardOwner: {
      locktime: '0',
      threshold: '1',
      addresses: ['P-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    },
    potentialReward: '11743144774',
  },
});

export const { table: validatorDelegatorsTable } = validatorDelegators;
