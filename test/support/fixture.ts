import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject, test } from 'vitest';
import type { ServerContext } from '../../src/server/server-context.ts';
import type { TestDatabase } from './database.ts';
import { type PageServer, sendRequest as requestAddress, servePagesOf } from './page-server.ts';
import { cloneTemplate, databaseUrl, dropDatabase, recordedTemplate } from './template.ts';

/** Options of a file's database client, and whether the database is the recorded one. Default: the empty one. */
interface DatabaseOptions extends postgres.Options<Record<string, never>> {
  readonly recorded?: boolean;
}

/**
 * Gives a test file a migrated database of its own and a client of it. Both are opened before the hooks and tests that
 * follow, and closed after them. Helpers of the file may use them as constants.
 * @param options of the client. Notices are not printed by default
 */
export function withDatabase({ recorded, ...options }: DatabaseOptions = {}) {
  const admin = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const database: TestDatabase = {
    url: databaseUrl(admin, name),
    close: () => dropDatabase(admin, name),
  };
  const sql = postgres(database.url, { onnotice: () => {}, ...options });
  // biome-ignore lint/correctness/noEmptyPattern: vitest parses this pattern for the fixtures that are used.
  const it = test.extend('database', { scope: 'file', auto: true }, async ({}, { onCleanup }) => {
    await cloneTemplate(admin, name, recorded ? await recordedTemplate(admin) : undefined);
    onCleanup(async () => {
      await sql.end({ timeout: 1 });
      await database.close();
    });
    return database;
  });
  // A file's own hooks run in order, after the database is open.
  it.beforeAll(({ database: opened }) => opened);
  return { it, database, sql };
}

/**
 * Gives a test file a database, as {@link withDatabase} does, and a server of its pages.
 * @param context of the server, as differences from the default, or a function that returns it for the database's URL
 * @param options of the database, and the token of the server. Default: no token
 */
export function withPages(
  context: Partial<ServerContext> | ((url: string) => Partial<ServerContext>) = {},
  { token, ...options }: DatabaseOptions & { readonly token?: string } = {},
) {
  const { it, database, sql } = withDatabase(options);
  /** Internal errors that the server logged. */
  const faults: unknown[] = [];
  const server = { address: '' };
  let opened: PageServer;
  it.beforeAll(async () => {
    const log = { warn: (...entry: unknown[]) => void faults.push(entry) };
    const more = typeof context === 'function' ? context(database.url) : context;
    opened = await servePagesOf(database.url, { log, ...more }, token);
    server.address = opened.address;
  });
  it.afterAll(() => opened.close());
  const sendRequest = (path: string, options?: Parameters<typeof requestAddress>[1]) =>
    requestAddress(server.address + path, options);
  return { it, database, sql, server, faults, sendRequest };
}
