import { isAway } from '../db/connection-error.ts';
import { ReplicaAway } from '../db/replica-unavailable.ts';
import { Interrupted, messageOf, TemporaryError } from '../lib/errors.ts';
import { TargetAway } from '../warehouse/target.ts';

const PASSING = [ReplicaAway, TargetAway, Interrupted, TemporaryError];

/**
 * Returns the message of a temporary failure, for which a command exits with 75. Returns null for other
 * failures.
 */
export function passing(error: unknown): string | null {
  if (PASSING.some((kind) => error instanceof kind)) return messageOf(error);
  if (!isAway(error)) return null;
  return `the database cannot be reached: ${messageOf(error)}; check DATABASE_URL and that it runs`;
}
