import { defineDataset } from '../dataset.ts';
import { decimal, hex, object, text } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { pendingRewardList } from './pending-reward-list.ts';

export const pendingRewardProgress = defineDataset({
  name: 'pending_reward_progress',
  about: 'Progress of the staking period of each pending reward.',
  operations: ['GET /v1/networks/{network}/rewards:listPending'],
  history: 'sample',
  source: pendingRewardList,
  request: ['network'],
  key: ['network', 'tx_hash', 'reward_type'],
  items: (body) =>
    getList(body, 'pendingRewards').filter((reward) => (getMember(reward, 'progress') ?? null) !== null),
  extra: false,
  item: object({
    txHash: hex(),
    rewardType: text(),
    progress: decimal('Elapsed part of the staking period, in percent: 0.0241 is 0.0241 %.'),
  }),
  example: {
    txHash: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
    rewardType: 'DELEGATOR',
    progress: 0.0241,
  },
});

export const { table: pendingRewardProgressTable } = pendingRewardProgress;
