import { isAway } from '../db/connection-error.ts';
import { ReplicaAway } from '../db/replica-unavailable.ts';
import { Interrupted, messageOf, TemporaryError } from '../lib/errors.ts';
import { TargetAway } from '../warehouse/target.ts';

const PASSING = [ReplicaAway, TargetAway, Interrupted, TemporaryError];

/** What is said of a failure that may pass, so that a command ends with 75; null: it will not pass by itself. */
export function passing(error: unknown): string | null {
  if (PASSING.some((kind) => error instanceof kind)) return messageOf(error);
  if (!isAway(error)) return null;
  return `the database cannot be reached: ${messageOf(error)}; check DATABASE_URL and that it runs`;
}
