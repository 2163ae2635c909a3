import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { packageFile } from '../lib/package-file.ts';

const READER = packageFile('drizzle/reader.sql');

/** Makes the role `recorder_reader` where the server has none. @throws when it is missing and this user may not make it */
export async function makeReader(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(readFileSync(READER, 'utf8'));
}
