import { defineDataset } from '../dataset.ts';
import { hex, object, optional, set, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { assetAmount } from './asset-amount.ts';
import { pendingRewardList } from './pending-reward-list.ts';

/**
 * Pending rewards without their `progress`, which changes with every response and is in
 * pending_reward_progress.
 */
export const pendingRewards = defineDataset({
  name: 'pending_rewards',
  about: 'Pending rewards of the stakes of watched addresses and nodes.',
  operations: ['GET /v1/networks/{network}/rewards:listPending'],
  history: 'state',
  source: pendingRewardList,
  request: ['network'],
  key: ['network', 'tx_hash', 'reward_type'],
  items: (body) => getList(body, 'pendingRewards'),
  endsAt: 'end_timestamp',
  ignore: ['progress'],
  item: object({
    txHash: hex(),
    rewardType: text(),
    nodeId: optional(text()),
    addresses: optional(set(undefined, 'Addresses that receive the reward.')),
    amountStaked: optional(uint('In nAVAX.')),
    startTimestamp: optional(unixSeconds()),
    endTimestamp: optional(unixSeconds()),
    estimatedReward: optional(assetAmount),
  }),
  example: {
    addresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    txHash: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
    amountStaked: '701813645564',
    nodeId: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD',
    startTimestamp: 1765251574,
    endTimestamp: 1766615565,
    rewardType: 'DELEGATOR',
    progress: 0.0241,
    estimatedReward: {
      assetId: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
      name: 'Avalanche',
      symbol: 'AVAX',
      denomination: 9,
      type: 'secp256k1',
      amount: '1585793298',
    },
  },
});

export const { table: pendingRewardsTable } = pendingRewards;
