import type { Account } from '../../../sandbox/network/accounts.ts';
import { expectedRewards, type Settlement, settlements } from '../../../sandbox/network/rewards.ts';
import type { Stake } from '../../../sandbox/network/validators.ts';
import type { Sandbox } from '../../../sandbox/server.ts';

/** Seconds for which a pending reward is listed after its stake ended. */
const LINGERS = 3_600;

/** The contents of a record of the sandbox. */
export interface RewardRecord {
  readonly sandbox: Sandbox;
  /** Times of the polls, ms since 1970. */
  readonly polls: readonly number[];
  readonly watched: readonly Account[];
  readonly nodeIds: readonly string[];
  /** Whether staking transactions were recorded. */
  readonly hasReceipts: boolean;
}

interface Estimate {
  readonly stake: Stake;
  readonly type: string;
  readonly owners: readonly Account[];
  readonly amount: bigint;
}

/** The rewards that a recorder of the sandbox has after its last poll, from the model alone. */
export class KnownRewards {
  readonly estimates = new Map<string, Estimate>();
  readonly settled = new Map<string, Settlement>();
  readonly #record: RewardRecord;

  constructor(record: RewardRecord) {
    this.#record = record;
    const { sandbox, polls, nodeIds, hasReceipts } = record;
    const { network } = sandbox;
    const seconds = polls.map((polledAt) => polledAt / 1000);
    for (const reward of network.validators.stakes.flat().flatMap(expectedRewards)) {
      const { stake, type, owners } = reward;
      const isListed = this.isWatched(owners) || nodeIds.includes(stake.node.nodeId);
      const isSeen = seconds.some((polledAt) => stake.start <= polledAt && polledAt < stake.end + LINGERS);
      if (isListed && isSeen) this.estimates.set(keyOf(stake, type), reward);
    }
    if (!hasReceipts) return;
    for (const polledAt of seconds)
      for (const validation of network.validators.current(polledAt)) {
        this.#see(validation, 'VALIDATOR');
        for (const delegation of validation.delegations)
          if (delegation.start <= polledAt && polledAt < delegation.end) this.#see(delegation, 'DELEGATOR');
      }
    for (const settlement of settlements(network, seconds.at(-1) ?? 0))
      if (this.isWatched([settlement.stake.owner, ...settlement.paid.flatMap(({ owners }) => owners)]))
        this.settled.set(settlement.stake.txId, settlement);
  }

  isWatched(owners: readonly Account[]): boolean {
    return owners.some((owner) => this.#record.watched.includes(owner));
  }

  /** A staking transaction has the estimate if no pending reward was listed. */
  #see(stake: Stake, type: 'VALIDATOR' | 'DELEGATOR'): void {
    const key = keyOf(stake, type);
    if (this.estimates.has(key) || !this.isWatched([stake.owner, ...stake.rewardOwners])) return;
    this.estimates.set(key, { stake, type, owners: stake.rewardOwners, amount: stake.potentialReward });
  }

  /** The validation of a delegation, if its own reward is known: the one that started last. */
  #validationOf({ node, start, end }: Stake): Stake | undefined {
    return [...this.estimates.values()]
      .filter(({ stake, type }) => type === 'VALIDATOR' && stake.node.nodeId === node.nodeId)
      .map(({ stake }) => stake)
      .filter((stake) => stake.start <= start && stake.end >= end)
      .sort((a, b) => b.start - a.start)[0];
  }

  /** The fees of a validation that are neither paid with their delegation nor refused with it. */
  #accrued(validation: Stake): bigint | null {
    const fees = [...this.estimates.values()].filter(
      ({ stake, type }) => type === 'VALIDATOR_FEE' && this.#validationOf(stake)?.txId === validation.txId,
    );
    const open = fees.filter(({ stake }) => this.#isOpenFee(stake));
    return open.length === 0 ? null : open.reduce((sum, { amount }) => sum + amount, 0n);
  }

  #isOpenFee(stake: Stake): boolean {
    const settled = this.settled.get(stake.txId);
    return settled === undefined || (settled.paid.length > 0 && !hasType(settled, 'VALIDATOR_FEE'));
  }

  rows() {
    const closed = [...this.settled.values()].flatMap((settlement) => {
      const { stake, paid } = settlement;
      const accrued = this.#accrued(stake);
      const isStakeKnown = [...this.estimates.values()].some((one) => one.stake.txId === stake.txId);
      const row = (type: string, received: bigint, owners: readonly Account[], estimate: bigint | null) => ({
        ...{
          staking_tx_hash: stake.txId,
          reward_type: type,
          due_at: iso((isStakeKnown ? stake.end : settlement.time) * 1000),
        },
        ...{
          state: received > 0n ? 'received' : 'refused',
          estimate: textOf(estimate),
          received: String(received),
        },
        ...{ received_at: iso(settlement.time * 1000), reward_tx_hash: settlement.txId },
        recipients: listOf(owners),
        difference: estimate === null ? null : String(received - estimate),
      });
      const estimateOf = (type: string) =>
        this.estimates.get(keyOf(stake, type))?.amount ?? (type === 'VALIDATOR_FEE' ? accrued : null);
      const refused = ['VALIDATOR', 'DELEGATOR', 'VALIDATOR_FEE'].filter((type) => {
        if (hasType(settlement, type)) return false;
        if (type !== 'VALIDATOR_FEE') return this.estimates.has(keyOf(stake, type));
        return accrued !== null || (paid.length === 0 && this.estimates.has(keyOf(stake, type)));
      });
      return [
        ...paid.map(({ type, owners, amount }) => row(type, amount, owners, estimateOf(type))),
        ...refused.map((type) =>
          row(type, 0n, this.estimates.get(keyOf(stake, type))?.owners ?? [], estimateOf(type)),
        ),
      ];
    });
    const open = [...this.estimates.values()].flatMap(({ stake, type, owners, amount }) => {
      const validation = type === 'VALIDATOR_FEE' ? this.#validationOf(stake) : undefined;
      const isOpen =
        type === 'VALIDATOR_FEE'
          ? this.#isOpenFee(stake) && !(validation && this.settled.has(validation.txId))
          : !this.settled.has(stake.txId);
      if (!isOpen) return [];
      const isRecorded = this.#record.hasReceipts && this.isWatched(owners);
      return [
        {
          ...{
            staking_tx_hash: stake.txId,
            reward_type: type,
            due_at: iso((validation ?? stake).end * 1000),
          },
          ...{ state: isRecorded ? 'expected' : 'not recorded', estimate: String(amount), received: null },
          ...{ received_at: null, reward_tx_hash: null, recipients: listOf(owners), difference: null },
        },
      ];
    });
    return [...closed, ...open];
  }

  /** Each paid reward, an output of its transaction. */
  receipts() {
    return [...this.settled.values()].flatMap(({ stake, txId, time, paid }) =>
      paid.map(({ type, owners, amount }) => ({
        ...{ stake, txId, type, amount, at: time * 1000, addresses: listOf(owners) },
        isRecorded: this.isWatched(owners),
      })),
    );
  }
}

const keyOf = ({ txId }: Stake, type: string) => `${txId} ${type}`;
const hasType = ({ paid }: Settlement, type: string) => paid.some((one) => one.type === type);
const iso = (ms: number) => new Date(ms).toISOString();
const textOf = (amount: bigint | null) => (amount === null ? null : String(amount));
const listOf = (owners: readonly Account[]) =>
  owners.length === 0 ? null : [...new Set(owners.map(({ address }) => address))].sort().join(', ');
