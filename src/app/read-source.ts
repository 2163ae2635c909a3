import type postgres from 'postgres';
import { FAR_BEHIND, lagText } from '../db/replica.ts';
import { ReplicaAway } from '../db/replica-unavailable.ts';
import { UsageError } from '../lib/errors.ts';
import { tell } from '../lib/print.ts';
import type { App } from './app.ts';

/** Where a command reads what was recorded. */
export interface ReadFrom {
  readonly url: string;
  readonly sql: postgres.Sql;
}

/**
 * Where what was recorded is read: the replica where one is named, after a look at it, else the primary. One that is far behind is
 * told of on stderr.
 * @throws UsageError when it is no replica of the primary; ReplicaAway when it gives no answer
 */
export async function readFrom({
  replica,
  database,
  databaseUrl,
}: Pick<App, 'replica' | 'database' | 'databaseUrl'>): Promise<ReadFrom> {
  if (!replica) return { url: databaseUrl, sql: database.sql };
  const found = await replica.look(database.reader);
  if (found.strange) throw new UsageError([`REPORTING_DATABASE_URL: ${found.trouble}`]);
  if (found.trouble !== null) throw new ReplicaAway(found.trouble);
  if ((found.lagSeconds ?? 0) > FAR_BEHIND)
    tell(`read from the replica ${replica.place}, which is ${lagText(found)}`);
  return replica;
}
