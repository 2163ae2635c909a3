import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';
import { type TestDatabase, testDatabase } from '../support/database.ts';

/** Rows of the schema `recorder`: `pg_dump --data-only --column-inserts` without psql's commands and settings. */
const ROWS = new URL('recorded.sql.gz', import.meta.url);

/** A database that was recorded from the sandbox: members that changed, left and came back, revised points, failures and gaps. */
export async function recordedDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await sql.unsafe(gunzipSync(readFileSync(ROWS)).toString());
  await sql.end();
  return database;
}
