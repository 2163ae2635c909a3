import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { ReplicaUnavailableError } from '../db/replica-unavailable.ts';
import { InterruptedError, TemporaryError, toErrorMessage } from '../lib/errors.ts';
import { TargetUnavailableError } from '../warehouse/target.ts';

const TEMPORARY_ERRORS = [ReplicaUnavailableError, TargetUnavailableError, InterruptedError, TemporaryError];

/**
 * Returns the message of a temporary failure, for which a command exits with 75. Returns null for other
 * failures.
 */
export function describeTemporaryFailure(error: unknown): string | null {
  if (TEMPORARY_ERRORS.some((kind) => error instanceof kind)) return toErrorMessage(error);
  if (!isDatabaseUnavailable(error)) return null;
  return `the database cannot be reached: ${toErrorMessage(error)}; check DATABASE_URL, and that the server runs`;
}
