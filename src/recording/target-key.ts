import { createHash } from 'node:crypto';
import type { Target } from '../datasets/contract.ts';

/**
 * Maximum length of a value that is stored as it is, in characters. A target may contain many addresses, but
 * PostgreSQL limits the size of index entries.
 */
const MAX_VALUE_LENGTH = 200;

/** Returns the key of a target in the database. The key does not depend on the order of its members. */
export function targetKey(target: Target): string {
  return Object.keys(target)
    .sort()
    .map((key) => `${key}=${shortened(target[key] ?? '')}`)
    .join(' ');
}

function shortened(value: string): string {
  if (value.length <= MAX_VALUE_LENGTH) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}
