import type postgres from 'postgres';
import { lagText, REPORTED_LAG_SECONDS } from '../db/replica.ts';
import { ReplicaUnavailableError } from '../db/replica-unavailable.ts';
import { UsageError } from '../lib/errors.ts';
import { printNotice } from '../lib/print.ts';
import type { App } from './app.ts';

/** Database from which a command reads. */
export interface ReadSource {
  readonly url: string;
  readonly sql: postgres.Sql;
}

/**
 * Returns the read replica after a check if one is configured, else the primary. A lag above the limit is
 * reported on stderr.
 * @throws UsageError if the server is not a replica of the primary; ReplicaUnavailableError if the replica is
 * unavailable
 */
export async function selectReadSource({
  replica,
  database,
  databaseUrl,
}: Pick<App, 'replica' | 'database' | 'databaseUrl'>): Promise<ReadSource> {
  if (!replica) return { url: databaseUrl, sql: database.sql };
  const found = await replica.check(database.reader);
  if (found.strange) throw new UsageError([`REPORTING_DATABASE_URL: ${found.error}`]);
  if (found.error !== null) throw new ReplicaUnavailableError(found.error);
  if ((found.lagSeconds ?? 0) > REPORTED_LAG_SECONDS)
    printNotice(`read from the replica ${replica.address}, which is ${lagText(found)}`);
  return replica;
}
