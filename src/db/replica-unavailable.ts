/** What was to be read from a replica cannot be, now. */
export class ReplicaAway extends Error {
  override readonly name = 'ReplicaAway';
  /** As errors of connections have one. */
  readonly code = 'REPLICA_AWAY';

  constructor(why: string, options?: ErrorOptions) {
    super(`the replica in REPORTING_DATABASE_URL: ${why}`, options);
  }
}
