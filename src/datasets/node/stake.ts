import { getEntries, getMember } from '../sources/answer.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';

/**
 * Returns the record of a validator or delegator with `weight`, and with `stakeNavax` on the primary network.
 * Nodes send the stake as `stakeAmount`, as `weight` or as both. On other subnets, `stakeAmount` is an amount
 * of the asset of the subnet, and is kept if it differs from the weight.
 */
export function withStake(record: unknown, subnetId: string | undefined): unknown {
  const amount = getMember(record, 'stakeAmount');
  const weight = getMember(record, 'weight') ?? amount;
  const isPrimary = (subnetId ?? PRIMARY_NETWORK) === PRIMARY_NETWORK;
  if (weight === undefined || (amount === undefined && !isPrimary)) return record;
  const isOwnAmount = !isPrimary && String(amount) !== String(weight);
  const others = getEntries(record).filter(([name]) => name !== 'stakeAmount' || isOwnAmount);
  return { ...Object.fromEntries(others), weight, ...(isPrimary ? { stakeNavax: amount ?? weight } : {}) };
}
