import type { Facts } from '../facts.ts';
import { cb58, namedBytes } from '../ids/base58.ts';
import { blsKey } from '../ids/bls-keys.ts';
import type { IdSpace } from '../ids/id-space.ts';
import { KIND } from '../ids/spaces.ts';
import { between, derive, unit } from '../random.ts';
import type { Account, Accounts } from './accounts.ts';
import { DAY, holds, type Period, periods } from './periods.ts';

/** Identity of a node. */
export interface NodeIdentity {
  readonly seat: number;
  readonly nodeId: string;
  readonly publicKey: string;
  readonly proofOfPossession: string;
}

/** A stake of a validator or a delegator. Amounts are in nAVAX, times in Unix seconds. */
export interface Stake extends Period {
  readonly txId: string;
  readonly node: NodeIdentity;
  readonly weight: bigint;
  /** The staker. */
  readonly owner: Account;
  /** Receivers of the reward: one or two accounts, often not the owner. */
  readonly rewardOwners: readonly Account[];
  readonly potentialReward: bigint;
}

/** A validator's stake of one period with the delegations to it. */
export interface ValidatorStake extends Stake {
  /** Receivers of delegation fees. */
  readonly feeOwners: readonly Account[];
  readonly feePercent: number;
  readonly delegations: readonly Stake[];
}

const HOUR = 3_600;
const MAX_PERIODS = 64;
const TOKEN = 1_000_000_000n;

/** Returns the number of core seats. The node of a core seat validates without gaps between its periods. */
export function coreSeats(seats: number): number {
  return Math.min(10, seats);
}

/** The validators of the primary network, their periods and their delegators. */
export class Validators {
  readonly nodes: readonly NodeIdentity[];
  /** Stakes of each seat, in time order. */
  readonly stakes: readonly (readonly ValidatorStake[])[];
  readonly #seed: number;
  readonly #ids: IdSpace;
  readonly #accounts: Accounts;
  readonly #facts: Facts;

  constructor(
    seed: number,
    genesisSec: number,
    seats: number,
    ids: IdSpace,
    accounts: Accounts,
    facts: Facts,
  ) {
    this.#facts = facts;
    this.#seed = derive(seed, 'validators');
    this.#ids = ids;
    this.#accounts = accounts;
    this.nodes = Array.from({ length: seats }, (_, seat) =>
      nodeIdentity(seed, `validator ${seat}`, seat, seat),
    );
    this.stakes = this.nodes.map((node) => {
      const core = node.seat < coreSeats(seats);
      const earlier = between(this.#seed, 1, 55 * DAY, node.seat, 7);
      const firstStart = core ? genesisSec - earlier : genesisSec + (earlier - 30 * DAY) * 2;
      const rhythm = {
        firstStart,
        days: [60, 365] as const,
        gapDays: core ? ([0, 0] as const) : ([1, 20] as const),
      };
      return periods(this.#seed, node.seat, rhythm).map((period, i) => this.#stake(node, period, i));
    });
  }

  #stake(node: NodeIdentity, period: Period, number: number): ValidatorStake {
    const seed = this.#seed;
    const key = node.seat * MAX_PERIODS + number;
    const weight =
      BigInt(between(seed, 2_000, 2_900_000, key, 1)) * TOKEN + BigInt(between(seed, 0, 999_999_999, key, 2));
    const count = between(seed, 0, 12, key, 3);
    const delegations = Array.from({ length: count }, (_, i) => this.#delegation(node, period, key, i + 1));
    return {
      ...period,
      txId: this.#ids.encode(KIND.staking, key * 64),
      node,
      weight,
      owner: this.#accounts.of(key, 4),
      rewardOwners: this.#rewardOwners(this.#accounts.of(key, 4), key),
      feeOwners: this.#rewardOwners(this.#accounts.of(key, 4), key + 1),
      potentialReward: reward(weight, period),
      feePercent: between(seed, 20, 200, key, 5) / 10,
      delegations: delegations.sort((a, b) => a.start - b.start),
    };
  }

  #delegation(node: NodeIdentity, within: Period, key: number, number: number): Stake {
    const seed = this.#seed;
    const room = within.end - within.start - 15 * DAY;
    const start = within.start + Math.floor(unit(seed, key, number, 11) * room);
    const maxDuration = within.end - start;
    const end = start + 14 * DAY + Math.floor(unit(seed, key, number, 12) * (maxDuration - 14 * DAY));
    const weight = BigInt(between(seed, 25, 40_000, key, number, 13)) * TOKEN;
    return {
      start,
      end,
      txId: this.#ids.encode(KIND.staking, key * 64 + number),
      node,
      weight,
      owner: this.#accounts.of(key * 64 + number, 14),
      rewardOwners: this.#rewardOwners(this.#accounts.of(key * 64 + number, 14), key * 64 + number),
      potentialReward: reward(weight, { start, end }),
    };
  }

  /** Returns the receivers of the reward of a stake: the owner, another account, or both. */
  #rewardOwners(owner: Account, key: number): readonly Account[] {
    const other = this.#accounts.of(key, 15);
    if (other === owner) return [owner];
    if (key % 4 === 3) return [other];
    return key % 5 === 2 ? [owner, other] : [owner];
  }

  /** Returns the stakes of validators at a moment (Unix seconds), in the order of the seats. */
  current(sec: number): ValidatorStake[] {
    const since = this.#facts.since('validators-return', sec);
    const stakes = this.stakes.flatMap((some) => some.filter((stake) => holds(stake, sec)));
    return since === undefined ? stakes : stakes.flatMap((stake) => this.#returning(stake, since, sec) ?? []);
  }

  /**
   * Returns a stake at a time if every seventh seat left and returned after a moment. Returns undefined while
   * the seat is removed.
   */
  #returning(stake: ValidatorStake, since: number, sec: number): ValidatorStake | undefined {
    const { seat } = stake.node;
    const leftAt = since + between(this.#seed, HOUR, 4 * HOUR, seat, since, 21);
    const returnedAt = leftAt + between(this.#seed, 2 * HOUR, 20 * HOUR, seat, since, 22);
    if (seat % 7 !== 3 || sec < leftAt || stake.start >= leftAt) return stake;
    if (sec < returnedAt) return undefined;
    return {
      ...stake,
      start: returnedAt,
      txId: this.#ids.encode(KIND.returned, seat * 2 ** 32 + since),
      delegations: stake.delegations.filter((delegation) => delegation.start >= returnedAt),
    };
  }

  /** Returns the identity of a node id, even if the node does not validate now. */
  node(nodeId: string): NodeIdentity | undefined {
    return this.nodes.find((node) => node.nodeId === nodeId);
  }
}

/** Returns the identity of a node with a name. The seat of a node that does not validate is -1. */
export function nodeIdentity(seed: number, name: string, seat: number, key: number): NodeIdentity {
  return { seat, nodeId: `NodeID-${cb58(namedBytes(seed, `node ${name}`, 20))}`, ...blsKey(key) };
}

/** Returns the potential reward of a stake, in nAVAX: seven percent a year. */
function reward(weight: bigint, period: Period): bigint {
  return (weight * BigInt(period.end - period.start) * 7n) / (100n * 365n * BigInt(DAY));
}
