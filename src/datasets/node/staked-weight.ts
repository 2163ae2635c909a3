import { memberOf } from '../sources/answer.ts';

/** A validator's or delegator's record with `weight`, which nodes before 1.10 called `stakeAmount`. */
export function withWeight(record: unknown): unknown {
  const amount = memberOf(record, 'stakeAmount');
  if (amount === undefined || memberOf(record, 'weight') !== undefined) return record;
  return Object.assign({}, record, { weight: amount });
}
