import { KIND } from '../ids/spaces.ts';
import { mix } from '../random.ts';
import type { Account } from './accounts.ts';
import type { Network } from './network.ts';
import type { Stake, ValidatorStake } from './validators.ts';

export type RewardType = 'VALIDATOR' | 'DELEGATOR' | 'VALIDATOR_FEE';

/** An expected reward of a stake. The reward of a validator's fee has the stake of the delegator. */
export interface ExpectedReward {
  readonly stake: Stake;
  readonly type: RewardType;
  readonly owners: readonly Account[];
  /** In nAVAX. */
  readonly amount: bigint;
}

/** A paid reward. */
export interface PaidReward {
  readonly type: RewardType;
  readonly owners: readonly Account[];
  /** In nAVAX. */
  readonly amount: bigint;
}

/**
 * The transaction that ends a stake. The transaction returns the stake and pays the reward that the network
 * voted for, which may be nothing.
 */
export interface Settlement {
  readonly stake: Stake;
  readonly txId: string;
  /** Unix seconds. */
  readonly time: number;
  readonly paid: readonly PaidReward[];
}

/** Returns the validator's fee of a delegation, in nAVAX. */
function feeOf(validation: ValidatorStake, delegation: Stake): bigint {
  return (delegation.potentialReward * BigInt(Math.round(validation.feePercent * 10))) / 1000n;
}

/** Returns the expected rewards of a validation and of the delegations to it. */
export function expectedRewards(validation: ValidatorStake): ExpectedReward[] {
  const { rewardOwners, feeOwners, potentialReward } = validation;
  return [
    { stake: validation, type: 'VALIDATOR', owners: rewardOwners, amount: potentialReward },
    ...validation.delegations.flatMap((stake): ExpectedReward[] => {
      const fee = feeOf(validation, stake);
      return [
        { stake, type: 'DELEGATOR', owners: stake.rewardOwners, amount: stake.potentialReward - fee },
        { stake, type: 'VALIDATOR_FEE', owners: feeOwners, amount: fee },
      ];
    }),
  ];
}

/** Returns whether a delegation has an old transaction type, whose fee is paid when the delegation ends. */
const paysFeeAtOnce = (network: Network, { start, node }: Stake) =>
  mix(network.seed, start, node.seat, 91) % 10 === 0;

/**
 * Returns the part of an amount that the network pays: nothing to every fifth stake, 97 % to another fifth,
 * and otherwise the whole amount.
 */
function votedAmount(network: Network, { start, node }: Stake, amount: bigint): bigint {
  const vote = mix(network.seed, start, node.seat, 92) % 10;
  if (vote < 2) return 0n;
  return vote < 4 ? (amount * 97n) / 100n : amount;
}

const settledAt = (stake: Stake) => stake.end + (mix(stake.start, stake.node.seat, 93) % 60);

/**
 * Returns the settlements of a validation and of the delegations to it. The fees of delegations are accrued,
 * and are paid when the validation ends, whether or not the validator itself is rewarded.
 */
export function settlementsOf(network: Network, validation: ValidatorStake): Settlement[] {
  const settle = (stake: Stake, paid: readonly PaidReward[]): Settlement => ({
    stake,
    txId: network.ids.primary.encode(KIND.reward, network.ids.primary.decode(stake.txId)?.number ?? 0),
    time: settledAt(stake),
    paid: paid.filter(({ amount }) => amount > 0n),
  });
  let accrued = 0n;
  const delegations = validation.delegations.map((stake) => {
    const fee = votedAmount(network, stake, feeOf(validation, stake));
    const rest = votedAmount(network, stake, stake.potentialReward - feeOf(validation, stake));
    const own: PaidReward = { type: 'DELEGATOR', owners: stake.rewardOwners, amount: rest };
    if (!paysFeeAtOnce(network, stake)) {
      accrued += fee;
      return settle(stake, [own]);
    }
    return settle(stake, [own, { type: 'VALIDATOR_FEE', owners: validation.feeOwners, amount: fee }]);
  });
  const own = votedAmount(network, validation, validation.potentialReward);
  const paid: PaidReward[] = [
    { type: 'VALIDATOR', owners: validation.rewardOwners, amount: own },
    { type: 'VALIDATOR_FEE', owners: validation.feeOwners, amount: accrued },
  ];
  return [...delegations, settle(validation, paid)];
}

/** Returns all settlements up to a time (Unix seconds). */
export function settlements(network: Network, sec: number): Settlement[] {
  return network.validators.stakes
    .flat()
    .filter(({ start }) => start <= sec)
    .flatMap((validation) => settlementsOf(network, validation))
    .filter(({ time }) => time <= sec);
}
