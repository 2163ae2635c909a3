import { createHash } from 'node:crypto';
import type { Target } from '../datasets/contract.ts';

/** The longest key that is stored as it is. A target may be long (many addresses in one call), an index entry may not. */
const LONGEST_VALUE = 200;

/** The name of a target in the database, the same for the same target whatever the order of its keys. */
export function targetKey(target: Target): string {
  return Object.keys(target)
    .sort()
    .map((key) => `${key}=${shortened(target[key] ?? '')}`)
    .join(' ');
}

function shortened(value: string): string {
  if (value.length <= LONGEST_VALUE) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}
