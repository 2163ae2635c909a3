import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject, test } from 'vitest';
import type { TestDatabase } from './database.ts';
import { cloneTemplate, databaseUrl, dropDatabase } from './template.ts';

/**
 * Gives a test file a migrated, empty database of its own and a client of it. Both are opened before the hooks and
 * tests that follow, and closed after them. Helpers of the file may use them as constants.
 * @param options of the client. Notices are not printed by default
 */
export function withDatabase(options: postgres.Options<Record<string, never>> = {}) {
  const admin = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const database: TestDatabase = {
    url: databaseUrl(admin, name),
    close: () => dropDatabase(admin, name),
  };
  const sql = postgres(database.url, { onnotice: () => {}, ...options });
  // biome-ignore lint/correctness/noEmptyPattern: vitest parses this pattern for the fixtures that are used.
  const it = test.extend('database', { scope: 'file', auto: true }, async ({}, { onCleanup }) => {
    await cloneTemplate(admin, name);
    onCleanup(async () => {
      await sql.end({ timeout: 1 });
      await database.close();
    });
    return database;
  });
  // A file's own hooks are run in their order: theirs find the database.
  it.beforeAll(({ database: opened }) => opened);
  return { it, database, sql };
}
