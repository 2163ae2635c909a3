import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { cloneBareTemplate, cloneTemplate, createDatabase, dropDatabase } from './template.ts';

/** A migrated, empty database of its own for one test file. */
export interface TestDatabase {
  url: string;
  /** Drops it, whoever is still connected. */
  close(): Promise<void>;
}

/** Makes a database for the calling test file. Needs the global set-up. */
export async function testDatabase(): Promise<TestDatabase> {
  return made(cloneTemplate);
}

/** Makes a database that has the tables, and no view or function of `reporting`. */
export async function bareDatabase(): Promise<TestDatabase> {
  return made(cloneBareTemplate);
}

/** Makes a database that nothing has migrated yet. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return made(createDatabase);
}

/** Makes a database of its own for the calling test file, by this function. */
export async function made(make: (admin: string, name: string) => Promise<string>): Promise<TestDatabase> {
  const admin = inject('databaseUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  return { url: await make(admin, name), close: () => dropDatabase(admin, name) };
}
