import { type MigrateOptions, migrateDatabase } from '../../db/migrate.ts';
import { declaredObjects } from './declared-objects.ts';

/**
 * Brings a database to this version: tables, then all objects of `reporting`. Several processes may call it at once.
 * @returns what a person should know about it, in sentences
 * @throws UsageError when the database cannot be brought to this version: see {@link migrateDatabase}
 */
export async function migrate(databaseUrl: string, options?: MigrateOptions): Promise<string[]> {
  return migrateDatabase(databaseUrl, declaredObjects(), options);
}
