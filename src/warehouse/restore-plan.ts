import { countKnownMigrations } from '../db/migrate.ts';
import { groupBy } from '../lib/group-by.ts';
import { bookkeepingTables } from './bookkeeping.ts';
import { warehouseTables } from './export-table.ts';
import type { Manifest, ManifestFile } from './manifest.ts';

/** Error of files or a database that are unsuitable for a restore. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError';
}

/** A file of a restore. */
export type RestoreFile = Omit<ManifestFile, 'day'>;

/** Files of one table that are restored together. */
export interface RestorePart {
  readonly table: string;
  readonly files: readonly RestoreFile[];
  /**
   * Columns that identify a version, of which the newest row is valid; null if no version is in two files.
   */
  readonly identity: readonly string[] | null;
}

type Bookkeeping = NonNullable<Manifest['bookkeeping']>;

/** Steps of a restore. */
export interface RestorePlan {
  readonly manifest: Manifest;
  readonly bookkeeping: Bookkeeping;
  readonly parts: readonly RestorePart[];
  /** Warnings about rows that are missing, or that were exported as of another time, as sentences. */
  readonly doubts: readonly string[];
}

/**
 * Plans a restore.
 * @throws RestoreRefusedError if the files do not contain a record that this version can restore
 */
export function restorePlan(manifest: Manifest | null, from: string): RestorePlan {
  if (!manifest)
    throw new RestoreRefusedError(`${from}: manifest.json is missing: the folder is not a complete export`);
  const { bookkeeping } = manifest;
  if (!bookkeeping)
    throw new RestoreRefusedError(
      `${from}: holds ${Object.keys(manifest.tables).join(', ')} as rows only, without targets, runs, coverage and seals: export the record there with "chain-recorder backup --to ${from}"`,
    );
  if (bookkeeping.migrations > countKnownMigrations())
    throw new RestoreRefusedError(
      `${from}: was written by a newer chain-recorder (${manifest.recorder}), whose schema this version does not support: restore with the version that exported it, or a newer one`,
    );
  const tables = Object.entries(manifest.tables);
  const known = new Set([...warehouseTables.map(({ name }) => name), ...bookkeepingTables]);
  const unknown = [...tables.map(([name]) => name), ...Object.keys(bookkeeping.tables)].filter(
    (name) => !known.has(name),
  );
  if (unknown.length > 0)
    throw new RestoreRefusedError(
      `${from}: has the tables ${unknown.join(', ')}, which this version does not support: restore with the version that exported it, or a newer one`,
    );
  const other = [...tables.map(([, { format }]) => format), bookkeeping.format].find(
    (format) => format !== 'parquet',
  );
  if (other !== undefined)
    throw new RestoreRefusedError(
      `${from}: holds ${other}, and only Parquet is restored: export the record as Parquet to another place`,
    );
  const rows = tables.filter(([name]) => !bookkeepingTables.includes(name));
  return {
    manifest,
    bookkeeping,
    parts: [
      ...rows.flatMap(([table, { files, key, from: begin }]) => byDay(table, files, [...key, begin])),
      ...Object.entries(bookkeeping.tables).map(([table, { files }]) => ({ table, files, identity: null })),
    ],
    doubts: [
      ...manifest.lost.map(
        ({ table, day, rows: count }) =>
          `${table}: a file with ${count} rows of ${day} was lost before, and these rows may be missing`,
      ),
      ...rows
        .filter(([, one]) => one.exported_at !== bookkeeping.exported_at)
        .map(
          ([name, one]) =>
            `${name} was exported as of ${one.exported_at}, and the bookkeeping as of ${bookkeeping.exported_at}: rows recorded between these times are restored without their runs`,
        ),
    ],
  };
}

/**
 * Splits the files of a table by day. All rows of a version are in one day. A version can be in two files
 * only if several exports wrote the day.
 */
function byDay(table: string, files: readonly ManifestFile[], identity: readonly string[]): RestorePart[] {
  return [...groupBy(files, ({ day }) => day)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, ofDay]) => ({
      table,
      files: ofDay,
      identity: new Set(ofDay.map((file) => file.export)).size > 1 ? identity : null,
    }));
}
