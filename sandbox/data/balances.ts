import type { Answer } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import type { Operation, PathParts } from '../http/operation.ts';
import { Query } from '../http/query.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import { type Holding, total } from '../network/holdings.ts';
import type { Network } from '../network/network.ts';
import { accountsOf } from './addresses.ts';
import { balanceAsset } from './amounts.ts';
import type { DataService } from './data-service.ts';
import { chainInfo, chainOf, networkOf } from './networks.ts';

type Group = (of: (account: Account) => Holding[]) => Json;

/**
 * Returns the balance groups of the P-chain. With a past `blockTimestamp`, the optional `restakedRewards` is
 * absent.
 */
function platform(network: Network, group: Group, sec: number, past: boolean): JsonObject {
  const { holdings } = network;
  const shared = group((account) => holdings.atomic(account, 0, sec));
  return {
    unlockedUnstaked: group((account) => holdings.unlocked(account, sec)),
    unlockedStaked: group((account) => holdings.staked(account, sec)),
    lockedPlatform: [],
    lockedStakeable: group((account) => holdings.lockedStakeable(account, sec)),
    lockedStaked: [],
    pendingStaked: [],
    atomicMemoryUnlocked: Array.isArray(shared)
      ? shared.map((item) => ({ ...item, status: 'unlocked' }))
      : [],
    atomicMemoryLocked: [],
    restakedRewards: past ? undefined : '0',
  };
}

function exchange(network: Network, group: Group, sec: number): JsonObject {
  const { holdings } = network;
  return {
    locked: [],
    unlocked: group((account) => holdings.onX(account, sec)),
    atomicMemoryUnlocked: group((account) => holdings.atomic(account, 1, sec)),
    atomicMemoryLocked: [],
  };
}

/** Returns the operation for balances of addresses on a primary-network chain. */
export function balances({ networks }: DataService): Operation[] {
  function answer(call: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const chain = chainOf(network, parts);
    const query = new Query(call.query);
    const past = query.integer('blockTimestamp', { min: 0 });
    const accounts = accountsOf(query, network) ?? [];
    query.check();
    const sec = Math.min(past ?? nowSec(call), nowSec(call));
    const group: Group = (of) => total(accounts.flatMap(of)).map(balanceAsset);
    const contract = {
      atomicMemoryUnlocked: group((account) => network.holdings.atomic(account, 2, sec)),
      atomicMemoryLocked: [],
    };
    const groups = [
      platform(network, group, sec, past !== undefined),
      exchange(network, group, sec),
      contract,
    ][chain.number];
    const others = network.facts.has('balances-other-members', nowSec(call))
      ? { utxoCount: 700, lastIndexedBlock: '9007199254740993', isStale: false }
      : {};
    const all = { ...groups, ...others };
    return { status: 200, document: { balances: all, chainInfo: chainInfo(network, chain) } };
  }

  return [
    {
      name: 'getBalancesByAddresses',
      service: 'data',
      units: 100,
      method: 'GET',
      path: '/v1/networks/{network}/blockchains/{blockchainId}/balances',
      answer,
    },
  ];
}
