import { type MigrateOptions, migrateDatabase } from '../../db/migrate.ts';
import { declaredObjects } from './declared-objects.ts';

/**
 * Migrates a database to this version: first the tables, then all objects of `reporting`. Several processes
 * may call this function at the same time.
 * @returns messages for the user, as sentences
 * @throws UsageError if the database cannot be migrated to this version: see {@link migrateDatabase}
 */
export async function migrate(databaseUrl: string, options?: MigrateOptions): Promise<string[]> {
  return migrateDatabase(databaseUrl, declaredObjects(), options);
}
