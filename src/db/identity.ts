import type postgres from 'postgres';
import { isAway } from './connection-error.ts';
import { sqlStateOf } from './sql-state.ts';

const NOT_ALLOWED = '42501';

/**
 * What tells a database from every other one: the number of the system that its server began with, which promotions keep, and its own
 * number there. A backup that was restored elsewhere is another database.
 * @returns null where it cannot be told: the database is away, or its user may not ask
 */
export async function databaseIdentity(sql: postgres.Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ identity: string }[]>`
      select system_identifier || '/' || (select oid from pg_database where datname = current_database()) as identity
      from pg_control_system()`;
    return row?.identity ?? null;
  } catch (error) {
    if (isAway(error) || sqlStateOf(error) === NOT_ALLOWED) return null;
    throw error;
  }
}
