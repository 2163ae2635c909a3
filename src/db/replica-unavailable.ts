/** Error of a read while the replica is unavailable. */
export class ReplicaUnavailableError extends Error {
  override readonly name = 'ReplicaUnavailableError';
  /** Makes `isDatabaseUnavailable` classify the error as a connection error. */
  readonly code = 'REPLICA_AWAY';

  constructor(why: string, options?: ErrorOptions) {
    super(`the replica in REPORTING_DATABASE_URL: ${why}`, options);
  }
}
