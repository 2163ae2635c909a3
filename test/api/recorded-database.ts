import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';
import { migrate } from '../../src/views/migrate.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';

const DUMP = new URL('../db/recorded/0.1.0.sql.gz', import.meta.url);

/**
 * A database that the first release recorded from the sandbox, as of this version: members that changed, left and came back, revised
 * points, failures and gaps.
 */
export async function recordedDatabase(): Promise<TestDatabase> {
  const database = await emptyDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await sql.unsafe(gunzipSync(readFileSync(DUMP)).toString());
  await sql.end();
  await migrate(database.url);
  return database;
}
