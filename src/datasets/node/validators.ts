import { defineDataset } from '../dataset.ts';
import { decimal, hex, object, optional, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { currentValidators } from './current-validators.ts';
import { ownerSet } from './owner-set.ts';
import { withStake } from './stake.ts';

/**
 * Validators without `uptime` and `connected`. Both fields change with every response and are readings in
 * validator_uptime.
 */
export const validators = defineDataset({
  name: 'validators',
  about: 'Validators as a node reports them, with all arrivals, changes and departures.',
  operations: ['platform.getCurrentValidators'],
  history: 'state',
  source: currentValidators,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id', 'node_id', 'start_time', 'tx_id', 'validation_id'],
  endsAt: 'end_time',
  byMoment: true,
  seldom: [
    'remaining_balance_owner_addresses',
    'deactivation_owner_addresses',
    'validator_authority_addresses',
  ],
  everyNode: { own: ['balance'] }, // the balance decreases every second
  items: (body, { subnetId }) =>
    getList(body, 'validators', 'total').map((record) => withStake(record, subnetId)),
  ignore: ['uptime', 'connected', 'delegators'],
  item: object({
    nodeID: text(),
    startTime: unixSeconds(),
    txID: optional(text()),
    validationID: optional(text()),
    endTime: optional(unixSeconds()),
    weight: uint(
      'In the unit of the subnet: nAVAX on the primary network, otherwise a number that the subnet defines.',
    ),
    stakeNavax: optional(uint('Stake in nAVAX; null outside the primary network.')),
    publicKey: optional(hex()),
    remainingBalanceOwner: optional(ownerSet),
    deactivationOwner: optional(ownerSet),
    validationRewardOwner: optional(ownerSet),
    delegationRewardOwner: optional(ownerSet),
    validatorAuthority: optional(ownerSet),
    minNonce: optional(uint()),
    balance: optional(uint('In nAVAX.')),
    potentialReward: optional(
      uint('In the smallest unit of the staked asset: nAVAX on the primary network.'),
    ),
    accruedDelegateeReward: optional(
      uint('In the smallest unit of the staked asset: nAVAX on the primary network.'),
    ),
    delegationFee: optional(decimal('In percent.')),
    signer: optional(object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) })),
    delegatorCount: optional(uint()),
    delegatorWeight: optional(
      uint('Weight of the delegations, in the unit of the subnet: nAVAX on the primary network.'),
    ),
  }),
  example: {
    txID: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
    startTime: '1763000000',
    endTime: '1794536000',
    nodeID: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD',
    weight: '2999990000000000',
    validationRewardOwner: {
      locktime: '0',
      threshold: '1',
      addresses: ['P-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    },
    delegationRewardOwner: {
      locktime: '0',
      threshold: '1',
      addresses: ['P-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    },
    potentialReward: '117431493426',
    accruedDelegateeReward: '0',
    delegationFee: '10.0000',
    uptime: '99.1234',
    connected: true,
    signer: {
      publicKey: '0x8f95423f7142d00a48e1014a3de8d289',
      proofOfPossession: '0x86a3ab4c45cfe31cae34c1d06f212434',
    },
    delegatorCount: '2',
    delegatorWeight: '25000000000',
  },
});

export const { table: validatorsTable } = validators;
