import { type Answer, Refusal } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import type { Network } from '../network/network.ts';
import { holds } from '../network/periods.ts';
import { settlements } from '../network/rewards.ts';
import { accountsOf } from './addresses.ts';
import type { DataService } from './data-service.ts';
import { chainInfo, chainOf, networkOf } from './networks.ts';
import { rewardItem } from './reward-items.ts';
import { stakingEvents } from './staking-events.ts';
import { memberItem, type StakingItem, stakeItem, subnetItems } from './staking-items.ts';
import { subnetChanges } from './subnet-changes.ts';

const TYPE = /^([A-Za-z0-9]+Tx|UNKNOWN)$/;

/** Returns all transactions that are active at a time (Unix seconds). */
function stakingItems(network: Network, sec: number): StakingItem[] {
  const stakes = network.validators
    .current(sec)
    .flatMap((stake) => [
      stakeItem(network, stake, stake.feePercent),
      ...stake.delegations.filter((one) => holds(one, sec)).map((one) => stakeItem(network, one, undefined)),
    ]);
  const subnets = network.subnets
    .filter((subnet) => subnet.number > 0 && subnet.createdAt <= sec)
    .flatMap((subnet) => [
      ...subnetItems(network, subnet, sec),
      ...subnet.members
        .filter((member) => holds(member, sec))
        .map((member) => memberItem(network, subnet, member, sec)),
      ...subnetChanges(network, subnet, sec),
    ]);
  const rewards = settlements(network, sec).map((settlement) => rewardItem(network, settlement));
  return [...stakes, ...subnets, ...rewards, ...stakingEvents(network, sec)].filter(
    (item) => item.time <= sec,
  );
}

/**
 * Returns the operation that lists active staking transactions, the latest first. Both time bounds are
 * inclusive.
 */
export function stakingTransactions({ networks, tokens }: DataService): Operation[] {
  function answer(call: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const chain = chainOf(network, parts);
    if (chain.number !== 0) throw new Refusal(400, ['blockchainId must be the P-chain']);
    const query = new Query(call.query);
    const accounts = accountsOf(query, network);
    const types = query.list('txTypes');
    if (types.some((type) => !TYPE.test(type)))
      query.fault('each value in txTypes must be a transaction type');
    const from = query.integer('startTimestamp', { min: 0 }) ?? 0;
    const to = query.integer('endTimestamp', { min: 0 }) ?? Number.MAX_SAFE_INTEGER;
    const order = query.choice('sortOrder', ['asc', 'desc'] as const) ?? 'desc';
    const page = readPage(call, query, tokens, { max: 100, standard: 10 });
    const matching = stakingItems(network, nowSec(call)).filter(
      (item) =>
        item.time >= from &&
        item.time <= to &&
        (accounts === undefined ||
          [item.owner, ...(item.payees ?? [])].some((one) => accounts.includes(one))) &&
        (types.length === 0 || types.includes(item.type)),
    );
    const { items, nextPageToken } = slice(matching, page, order, (item) => sortKey(item.time, item.hash));
    const transactions = items.map((item) => item.details());
    return { status: 200, document: { nextPageToken, transactions, chainInfo: chainInfo(network, chain) } };
  }

  return [
    {
      name: 'listActivePrimaryNetworkStakingTransactions',
      service: 'data',
      units: 100,
      method: 'GET',
      path: '/v1/networks/{network}/blockchains/{blockchainId}/transactions:listStaking',
      answer,
    },
  ];
}
