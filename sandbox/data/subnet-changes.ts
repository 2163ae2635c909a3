import { KIND } from '../ids/spaces.ts';
import type { JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';
import { DAY } from '../network/periods.ts';
import {
  CONVERTED_AFTER,
  type Member,
  memberBalance,
  memberWeight,
  REFILL,
  STEP,
  type Subnet,
  weightChanges,
} from '../network/subnets.ts';
import { common, l1Detail, type StakingItem } from './staking-items.ts';
import { subnetTransaction, TRANSFERRED_AFTER } from './subnets.ts';

const TRANSFORMED_AFTER = 20 * DAY;

interface Change {
  readonly time: number;
  readonly hash: string;
  readonly type: string;
  readonly owner: Account;
  readonly more: JsonObject;
  readonly burned?: bigint;
}

function item(network: Network, subnet: Subnet, change: Change): StakingItem {
  const { more, burned = 0n, ...about } = change;
  const details = (): JsonObject => ({
    ...common(network, about, 0n, burned),
    emittedUtxos: [],
    subnetId: subnet.subnetId,
    ...more,
  });
  return { ...about, details };
}

/** Returns the hash of a transaction that changed a member. `which` is the number of the change. */
function changeHash(network: Network, member: Member, which: number): string {
  return network.ids.primary.encode(KIND.memberChange, member.number * 4096 + which);
}

/** Returns the latest changes of a member: weight, balance, end. */
function memberChanges(network: Network, subnet: Subnet, member: Member, sec: number): Change[] {
  const owner = network.accounts.of(member.ownerKey, 56);
  const { nodeId } = member.node;
  if (!member.l1)
    return [
      {
        time: member.end,
        hash: changeHash(network, member, 0),
        type: 'RemoveSubnetValidatorTx',
        owner,
        more: { nodeId },
      },
    ];
  const last = Math.min(sec, member.end - 1);
  const weights = weightChanges(member, last);
  const refills = Math.floor((last - member.start) / REFILL);
  const about = (time: number, change: JsonObject): JsonObject => ({
    l1ValidatorDetails: [
      {
        ...l1Detail(subnet, member),
        weight: memberWeight(member, time),
        remainingBalance: memberBalance(member, time),
        ...change,
      },
    ],
  });
  const weighed = member.start + weights * STEP;
  const filled = member.start + refills * REFILL;
  const increase = 512n * BigInt(REFILL);
  const found: Change[] = [
    {
      time: member.end,
      hash: changeHash(network, member, 0),
      type: 'DisableL1ValidatorTx',
      owner,
      more: about(member.end, { remainingBalance: 0 }),
    },
  ];
  if (weights > 0)
    found.push({
      time: weighed,
      hash: changeHash(network, member, 2 * weights),
      type: 'SetL1ValidatorWeightTx',
      owner,
      more: about(weighed, {}),
    });
  if (refills > 0)
    found.push({
      time: filled,
      hash: changeHash(network, member, 2 * refills + 1),
      type: 'IncreaseL1ValidatorBalanceTx',
      owner,
      burned: increase,
      more: about(filled, { balanceChange: increase }),
    });
  return found;
}

/** Changes of a subnet: owner, kind and rules. */
function ownChanges(network: Network, subnet: Subnet, sec: number): Change[] {
  const first = network.accounts.of(subnet.number, 81);
  const next = network.accounts.of(subnet.number, 82);
  const owned = { locktime: network.locktime(sec), threshold: 1, addresses: [next.address] };
  const transfer: Change = {
    time: subnet.createdAt + TRANSFERRED_AFTER,
    hash: subnetTransaction(network, subnet, 2),
    type: 'TransferSubnetOwnershipTx',
    owner: first,
    more: { subnetOwnershipInfo: owned },
  };
  if (subnet.kind === 'permissioned')
    return [
      transfer,
      {
        time: subnet.createdAt + TRANSFORMED_AFTER,
        hash: subnetTransaction(network, subnet, 3),
        type: 'TransformSubnetTx',
        owner: first,
        more: {},
      },
    ];
  const conversion: Change = {
    time: subnet.createdAt + CONVERTED_AFTER,
    hash: subnetTransaction(network, subnet, 1),
    type: 'ConvertSubnetToL1Tx',
    owner: first,
    more: {
      l1ValidatorManagerDetails: {
        blockchainId: subnet.chains[0]?.blockchainId ?? '',
        contractAddress: network.ids.address.encode(KIND.contract, subnet.number),
      },
      l1ValidatorDetails: [],
    },
  };
  return [transfer, conversion];
}

/** Returns the transactions that changed a subnet and its members by a time (Unix seconds). */
export function subnetChanges(network: Network, subnet: Subnet, sec: number): StakingItem[] {
  const members = subnet.members.filter((member) => member.start <= sec);
  return [
    ...ownChanges(network, subnet, sec),
    ...members.flatMap((member) => memberChanges(network, subnet, member, sec)),
  ].map((change) => item(network, subnet, change));
}
