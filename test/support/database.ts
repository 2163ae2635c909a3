import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { cloneBareTemplate, cloneTemplate, createDatabase, dropDatabase } from './template.ts';

/** A migrated, empty database for one test file. */
export interface TestDatabase {
  url: string;
  /** Drops it, despite open connections. */
  close(): Promise<void>;
}

/** Creates a database for the calling test file. Needs the global set-up. */
export async function testDatabase(): Promise<TestDatabase> {
  return createTestDatabase(cloneTemplate);
}

/** Creates a database that has the tables, and no view or function of `reporting`. */
export async function bareDatabase(): Promise<TestDatabase> {
  return createTestDatabase(cloneBareTemplate);
}

/** Creates a database without migrations. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return createTestDatabase(createDatabase);
}

/** Creates a database for the calling test file, by this function. */
export async function createTestDatabase(
  make: (admin: string, name: string) => Promise<string>,
): Promise<TestDatabase> {
  const admin = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  return { url: await make(admin, name), close: () => dropDatabase(admin, name) };
}
