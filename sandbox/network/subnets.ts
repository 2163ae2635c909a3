import { cb58, namedBytes } from '../ids/base58.ts';
import type { IdSpace } from '../ids/id-space.ts';
import { KIND } from '../ids/spaces.ts';
import { between, derive } from '../random.ts';
import { DAY, holds, type Period, periods } from './periods.ts';
import { EMPTY_ID } from './primary-chains.ts';
import { type NodeIdentity, nodeIdentity, type Validators } from './validators.ts';

/** Selection of a subnet's validators. */
type SubnetKind = 'primary' | 'permissioned' | 'l1' | 'mixed';

/** A blockchain of a subnet. `evmChainId` is absent if the blockchain is not an EVM chain. */
export interface SubnetChain {
  readonly blockchainId: string;
  readonly name: string;
  readonly vmId: string;
  readonly evmChainId?: number;
}

/** A subnet of the network. `createdAt` is in Unix seconds. */
export interface Subnet {
  readonly number: number;
  readonly kind: SubnetKind;
  readonly subnetId: string;
  readonly createdAt: number;
  readonly chains: readonly SubnetChain[];
  readonly members: readonly Member[];
}

/**
 * A validator of a subnet other than the primary network. `l1` is true for a validator of an L1, and false
 * for a validator of a permissioned subnet.
 */
export interface Member extends Period {
  readonly id: string;
  readonly idBytes: Buffer;
  readonly node: NodeIdentity;
  readonly l1: boolean;
  readonly baseWeight: bigint;
  readonly ownerKey: number;
  /** Number of the member among the members of all subnets. */
  readonly number: number;
}

/**
 * Time from the creation of a subnet to its conversion to an L1, in seconds. The L1 validators join after the
 * conversion.
 */
export const CONVERTED_AFTER = 30 * DAY;

interface Plan {
  readonly kind: SubnetKind;
  readonly afterDays: number;
  readonly chains: readonly { readonly name: string; readonly evmChainId?: number }[];
  readonly l1: number;
  readonly permissioned: number;
  readonly weight: readonly [bigint, bigint];
}

const PLANS: readonly Plan[] = [
  {
    kind: 'permissioned',
    afterDays: 10,
    chains: [{ name: 'Ledger of Things' }],
    l1: 0,
    permissioned: 5,
    weight: [20n, 8n],
  },
  {
    kind: 'l1',
    afterDays: 60,
    chains: [{ name: 'Alpha', evmChainId: 888001 }],
    l1: 6,
    permissioned: 0,
    weight: [49_463n, 7n],
  },
  {
    kind: 'mixed',
    afterDays: 200,
    chains: [{ name: 'Beta', evmChainId: 888002 }],
    l1: 3,
    permissioned: 2,
    weight: [100n, 11n],
  },
  // Weights beyond 2^53 and nearly up to 2^64, because an L1 defines weights freely.
  {
    kind: 'l1',
    afterDays: 90,
    chains: [{ name: 'Gamma' }, { name: 'Gamma Games' }],
    l1: 4,
    permissioned: 0,
    weight: [9_007_199_254_740_993n, 3_000_000_000_000_000_007n],
  },
];

/** Returns the subnets of a network. The first subnet is the primary network itself, without members here. */
export function subnets(seed: number, genesisSec: number, ids: IdSpace, validators: Validators): Subnet[] {
  const key = derive(seed, 'subnets');
  const primary: Subnet = {
    number: 0,
    kind: 'primary',
    subnetId: EMPTY_ID,
    createdAt: genesisSec,
    chains: [],
    members: [],
  };
  const others = PLANS.map((plan, i): Subnet => {
    const number = i + 1;
    const createdAt = genesisSec + plan.afterDays * DAY + between(key, 0, DAY, number);
    return {
      number,
      kind: plan.kind,
      subnetId: cb58(namedBytes(key, `subnet ${number}`, 32)),
      createdAt,
      chains: plan.chains.map((chain) => ({
        blockchainId: cb58(namedBytes(key, `chain ${chain.name}`, 32)),
        vmId: cb58(namedBytes(key, `vm ${chain.evmChainId === undefined ? chain.name : 'evm'}`, 32)),
        ...chain,
      })),
      members: members(key, number, plan, createdAt, ids, validators),
    };
  });
  return [primary, ...others];
}

function members(
  seed: number,
  subnet: number,
  plan: Plan,
  createdAt: number,
  ids: IdSpace,
  validators: Validators,
): Member[] {
  const seats = Array.from({ length: plan.l1 + plan.permissioned }, (_, seat) => seat);
  return seats.flatMap((seat) => {
    const l1 = seat < plan.l1;
    const own = nodeIdentity(seed, `subnet ${subnet} ${seat}`, -1, 94 - subnet * 8 - seat);
    const node = l1 ? own : (validators.nodes[seat % validators.nodes.length] ?? own);
    const stays = seat === 0 || !l1;
    const rhythm = {
      firstStart: createdAt + (l1 ? CONVERTED_AFTER : 0) + seat * 1800,
      days: [90, 200] as const,
      gapDays: stays ? ([0, 0] as const) : ([3, 20] as const),
    };
    return periods(seed, subnet * 16 + seat, rhythm).map((period, number): Member => {
      const key = (subnet * 16 + seat) * 64 + number;
      const weight = plan.weight[0] + plan.weight[1] * BigInt(seat);
      return {
        ...period,
        id: ids.encode(KIND.subnetTransaction, key),
        idBytes: ids.bytes(KIND.subnetTransaction, key),
        number: key,
        node,
        l1,
        baseWeight: weight,
        ownerKey: key,
      };
    });
  });
}

/** Interval of the weight changes of an L1 validator, in seconds. */
export const STEP = 17 * DAY;

/** Returns the members of a subnet at a moment (Unix seconds). */
export function currentMembers(subnet: Subnet, sec: number): Member[] {
  return subnet.members.filter((member) => holds(member, sec));
}

/**
 * Returns the number of changes of the weight of a member since the member joined. The weight of an L1
 * validator changes every 17 days. The weight of a validator of a permissioned subnet never changes.
 */
export function weightChanges(member: Member, sec: number): number {
  return member.l1 ? Math.floor((sec - member.start) / STEP) : 0;
}

/** Returns the weight of a member at a moment (Unix seconds). */
export function memberWeight(member: Member, sec: number): bigint {
  return member.baseWeight + BigInt(weightChanges(member, sec) % 5) * (member.baseWeight / 10n);
}

/** Interval at which the balance of an L1 validator is topped up, in seconds. */
export const REFILL = 30 * DAY;

/**
 * Returns the balance of an L1 validator in nAVAX. 512 nAVAX are burnt per second until the balance is topped
 * up.
 */
export function memberBalance(member: Member, sec: number): bigint {
  return 5_000_000_000n - 512n * BigInt((sec - member.start) % REFILL);
}
