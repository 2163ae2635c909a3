import type postgres from 'postgres';
import { isDatabaseUnavailable } from './connection-error.ts';
import { sqlStateOf } from './sql-state.ts';

const NOT_ALLOWED = '42501';

/**
 * Returns an identifier of the database: the system identifier of its server, which promotions keep, and its
 * OID. A backup that was restored elsewhere has another identifier.
 * @returns null if the database is unavailable, or if its user lacks the right to read the identifier
 */
export async function databaseIdentity(sql: postgres.Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ identity: string }[]>`
      select system_identifier || '/' || (select oid from pg_database where datname = current_database()) as identity
      from pg_control_system()`;
    return row?.identity ?? null;
  } catch (error) {
    if (isDatabaseUnavailable(error) || sqlStateOf(error) === NOT_ALLOWED) return null;
    throw error;
  }
}
