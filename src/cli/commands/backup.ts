import { readEnvironment } from '../../config/environment.ts';
import { openDatabase } from '../../db/client.ts';
import { schemaProblem } from '../../db/migrate.ts';
import { tableText } from '../../db/orm.ts';
import { coverage } from '../../db/schema/bookkeeping.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printLine } from '../../lib/print.ts';
import { warehouseTables } from '../../warehouse/export-table.ts';
import { exportTo } from './export.ts';

/**
 * Command `backup --to DIR|s3://BUCKET/PREFIX`: exports every dataset, and the tables that a restore needs.
 * An existing backup of the record is updated: every file is read and verified, and missing files are written
 * again.
 * @returns the exit code, as {@link exportTo} does
 * @throws UsageError if the database has no record of this version
 */
export async function backupCommand(
  databaseUrl: string,
  { to, json }: { readonly to: string; readonly json: boolean },
  signal: AbortSignal,
): Promise<number> {
  await requireRecord(databaseUrl);
  const { s3 } = readEnvironment();
  const tables = warehouseTables;
  return exportTo(
    { databaseUrl, to, s3, tables, format: 'parquet', incremental: true, verify: true, json, signal },
    ({ manifest, tables: written, damaged, lost }) => {
      const { exported_at, seal } = manifest;
      const rows = written.reduce((sum, one) => sum + one.rows, 0);
      const bytes = written.reduce((sum, one) => sum + one.bytes, 0);
      if (json) printJson({ to, export: manifest.export, exported_at, seal, rows, bytes, damaged, lost });
      else
        printLine(
          `${to}: backup as of ${exported_at}, ${rows} new rows (${(bytes / 1e6).toFixed(1)} MB), ` +
            (seal ? `seal ${seal.seal} ${seal.head}` : 'nothing is sealed yet'),
        );
    },
  );
}

/**
 * Refuses a database without a record of this version.
 * @throws UsageError if the database has no record, or a record of another version
 */
async function requireRecord(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl);
  try {
    const [found] = await database.sql`select to_regclass(${tableText(coverage)}) is not null as recorded`;
    if (!found?.recorded)
      throw new UsageError(['DATABASE_URL: the database holds no record: there is nothing to back up']);
    const problem = await schemaProblem(database.sql);
    if (problem) throw new UsageError([`DATABASE_URL: ${problem}`]);
  } finally {
    await database.close();
  }
}
