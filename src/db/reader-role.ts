import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { packageFile } from '../lib/package-file.ts';

const READER_SQL_FILE = packageFile('drizzle/reader.sql');

/**
 * Creates the role `recorder_reader` if it is missing.
 * @throws the error of PostgreSQL if this user may not create it
 */
export async function createReaderRole(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(readFileSync(READER_SQL_FILE, 'utf8'));
}
