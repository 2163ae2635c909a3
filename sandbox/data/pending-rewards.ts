import { type Answer, Refusal } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import { isNodeId } from '../ids/base58.ts';
import type { JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import { type ExpectedReward, expectedRewards } from '../network/rewards.ts';
import { accountsOf } from './addresses.ts';
import { assetAmount } from './amounts.ts';
import type { DataService } from './data-service.ts';
import { networkOf } from './networks.ts';

/** Time for which an expired stake is still listed, in s. */
const LINGERS = 3_600;

/**
 * Returns the expected rewards of stakes. The reward of a validator's fee has the transaction of the
 * delegator.
 */
function rewards(network: Network, sec: number): ExpectedReward[] {
  return network.validators.stakes
    .flat()
    .flatMap(expectedRewards)
    .filter(({ stake }) => stake.start <= sec && sec < stake.end + LINGERS);
}

function item(network: Network, reward: ExpectedReward, sec: number): JsonObject {
  const { stake } = reward;
  return {
    addresses: reward.owners.map(({ address }) => address),
    txHash: stake.txId,
    amountStaked: String(stake.weight),
    nodeId: stake.node.nodeId,
    startTimestamp: stake.start,
    endTimestamp: stake.end,
    progress: Number((Math.min(1, (sec - stake.start) / (stake.end - stake.start)) * 100).toFixed(4)),
    estimatedReward: assetAmount(network.assets[0], reward.amount),
    rewardType: reward.type,
  };
}

/** Returns the operation that lists pending rewards of addresses or nodes, latest start first. */
export function pendingRewards({ networks, tokens }: DataService): Operation[] {
  function answer(call: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const query = new Query(call.query);
    const accounts = accountsOf(query, network);
    const nodeIds = query.list('nodeIds');
    if (!nodeIds.every(isNodeId)) query.fault('each value in nodeIds must be a valid node id');
    const order = query.choice('sortOrder', ['asc', 'desc'] as const) ?? 'desc';
    const page = readPage(call, query, tokens, { max: 100, standard: 10 });
    if (accounts === undefined && nodeIds.length === 0)
      throw new Refusal(400, 'at least one of addresses or nodeIds is required');
    const sec = nowSec(call);
    const matching = rewards(network, sec).filter(
      (reward) =>
        (accounts === undefined || reward.owners.some((owner) => accounts.includes(owner))) &&
        (nodeIds.length === 0 || nodeIds.includes(reward.stake.node.nodeId)),
    );
    const { items, nextPageToken } = slice(matching, page, order, (reward) =>
      sortKey(reward.stake.start, `${reward.stake.txId} ${reward.type}`),
    );
    return {
      status: 200,
      document: { nextPageToken, pendingRewards: items.map((reward) => item(network, reward, sec)) },
    };
  }

  return [
    {
      name: 'listPendingPrimaryNetworkRewards',
      service: 'data',
      units: 100,
      method: 'GET',
      path: '/v1/networks/{network}/rewards:listPending',
      answer,
    },
  ];
}
