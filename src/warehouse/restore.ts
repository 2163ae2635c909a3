import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDataset } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { requestColumns, SERIES_ID, seriesTableOf, tableRowsSql } from '../datasets/target-columns.ts';
import { type BulkLoad, withBulkLoad } from '../db/bulk-load.ts';
import { countKnownMigrations, migrateDatabase } from '../db/migrate.ts';
import { migrate } from '../reporting/views/migrate.ts';
import { readingTables, sequenceColumns } from './bookkeeping.ts';
import { EXPORTED_AT, explainDownloadErrors, loadFile, quotedNames } from './load-file.ts';
import { currentManifest, type Manifest } from './manifest.ts';
import { type RestorePart, RestoreRefusedError, restorePlan } from './restore-plan.ts';
import type { ExportTarget } from './target.ts';

/** Input of a restore. */
export interface RestoreInput {
  readonly databaseUrl: string;
  readonly source: ExportTarget;
  /** Stops the restore; the database is then unchanged. */
  readonly signal: AbortSignal;
  /** Called after each file with the restored and the total bytes. */
  readonly progress?: (done: { readonly bytes: number; readonly all: number }) => void;
}

/** Result of a restore. */
export interface RestoreResult {
  readonly manifest: Manifest;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** Warnings about rows that are missing, or that were exported as of another time, as sentences. */
  readonly doubts: readonly string[];
  /** Messages of the migration, as sentences. */
  readonly notices: readonly string[];
}

/**
 * Restores an exported record into an empty database. The database is migrated to the schema of the export,
 * all rows are loaded in one transaction, and then later migrations are applied. Verifies the checksum of
 * each file before reading it.
 * @throws RestoreRefusedError, and errors of a migration, the database, the source or a damaged file
 */
export async function restoreRecord({
  databaseUrl,
  source,
  signal,
  progress,
}: RestoreInput): Promise<RestoreResult> {
  const { manifest, bookkeeping, parts, doubts } = restorePlan(await currentManifest(source), source.name);
  const isOfThisVersion = bookkeeping.migrations === countKnownMigrations();
  const migrated = isOfThisVersion
    ? await migrate(databaseUrl, { signal })
    : await migrateDatabase(databaseUrl, [], { last: bookkeeping.migrations, signal });
  const all = parts.reduce((sum, { files }) => sum + files.reduce((more, { bytes }) => more + bytes, 0), 0);
  const scratch = await explainDownloadErrors(() => mkdtemp(join(tmpdir(), 'chain-recorder-restore-')));
  let bytes = 0;
  try {
    const tables = await withBulkLoad(databaseUrl, signal, async (loading) => {
      await refuseLaterSchema(loading, bookkeeping.migrations, source.name);
      const columns = await lockEmptyTables(loading, [...new Set(parts.map(({ table }) => table))]);
      const rows = new Map<string, number>();
      for (const part of parts) {
        const known = columns.get(part.table) ?? new Set();
        const numbered = numberedNamed(part.table);
        const begin = part.identity || numbered ? await createStagingTable(loading, part.table, known) : null;
        let loaded = 0;
        for (const file of part.files) {
          signal.throwIfAborted();
          loaded += await loadFile(
            loading,
            begin ?? `recorder.${part.table}`,
            known,
            source,
            file,
            scratch,
            signal,
          );
          bytes += file.bytes;
          progress?.({ bytes, all });
        }
        if (begin && numbered) await numberSeries(loading, numbered, begin);
        if (begin) loaded = await moveNewest(loading, part, begin, known);
        rows.set(part.table, (rows.get(part.table) ?? 0) + loaded);
      }
      await setSequences(loading, bookkeeping.numbers, source.name);
      await compareHead(loading, bookkeeping.seal?.head ?? null);
      // Without statistics, the first queries would be planned for empty tables.
      for (const table of columns.keys()) await loading.rows(`analyze recorder.${table}`);
      return [...rows].map(([table, count]) => ({ table, rows: count }));
    });
    const notices = isOfThisVersion ? migrated : [...migrated, ...(await migrate(databaseUrl, { signal }))];
    return { manifest, tables, doubts, notices };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Rejects a database whose schema is newer than the export.
 * @throws RestoreRefusedError if the database has migrations that were not applied to the exported rows
 */
async function refuseLaterSchema(loading: BulkLoad, migrations: number, from: string): Promise<void> {
  const [row] = await loading.rows('select count(*)::int as applied from drizzle.__drizzle_migrations');
  if (Number(row?.applied) > migrations)
    throw new RestoreRefusedError(
      `${from}: is of an earlier version than the schema of the database: restore into a new, empty database, before "migrate" or "up" uses it`,
    );
}

/**
 * Locks tables against writes until the restore has ended.
 * @returns the columns of each table
 * @throws RestoreRefusedError if a table has rows
 */
async function lockEmptyTables(
  loading: BulkLoad,
  tables: readonly string[],
): Promise<Map<string, Set<string>>> {
  const all = [...tables, ...readingTables];
  await loading.rows(
    `lock table ${all.map((name) => `recorder.${name}`).join(', ')} in share row exclusive mode`,
  );
  const counted = all.map(
    (name) => `select '${name}' as "table" where exists (select from recorder.${name})`,
  );
  const filled = await loading.rows(counted.join(' union all '));
  if (filled.length > 0)
    throw new RestoreRefusedError(
      `the database already contains a record (${filled.map((row) => String(row.table)).join(', ')}): restore into a new, empty database, before "up" uses it`,
    );
  const found = await loading.rows(
    `select c.relname as "table", a.attname as "column" from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'recorder'::regnamespace and a.attnum > 0 and not a.attisdropped`,
  );
  const columns = new Map(tables.map((name) => [name, new Set<string>()]));
  for (const row of found) columns.get(String(row.table))?.add(String(row.column));
  // Files contain the values behind a series id.
  for (const name of tables) {
    const numbered = numberedNamed(name);
    const known = columns.get(name);
    if (!numbered || !known?.delete(SERIES_ID)) continue;
    for (const column of requestColumns(numbered)) known.add(column);
  }
  return columns;
}

/** Returns the dataset of a table if its rows use series ids. Returns null otherwise. */
const numberedNamed = (table: string): Dataset | null => {
  const dataset = findDataset(table);
  return dataset?.numbered ? dataset : null;
};

/**
 * Creates a temporary copy of a table's columns and their defaults, which files of an earlier version need,
 * with {@link EXPORTED_AT}.
 * @returns the name of the copy
 */
async function createStagingTable(
  loading: BulkLoad,
  table: string,
  known: ReadonlySet<string>,
): Promise<string> {
  await loading.rows(
    `create temporary table staged on commit drop as
     select ${quotedNames(known)}, null::timestamptz as ${EXPORTED_AT} from ${rowsNamed(table)} r with no data`,
  );
  const defaults = await loading.rows(
    `select a.attname as "column", pg_get_expr(d.adbin, d.adrelid) as value
     from pg_attrdef d join pg_attribute a on (a.attrelid, a.attnum) = (d.adrelid, d.adnum)
     where d.adrelid = 'recorder.${table}'::regclass and a.attgenerated = ''`,
  );
  for (const { column, value } of defaults)
    if (known.has(String(column)))
      await loading.rows(`alter table pg_temp.staged alter column "${column}" set default ${value}`);
  return 'pg_temp.staged';
}

/** Returns SQL of a FROM item with the rows of a table, in the form of the rows in files. */
function rowsNamed(table: string): string {
  const numbered = numberedNamed(table);
  return numbered ? tableRowsSql(numbered) : `recorder.${table}`;
}

/** Assigns ids to staged series that have none. */
async function numberSeries(loading: BulkLoad, dataset: Dataset, staged: string): Promise<void> {
  const names = quotedNames(requestColumns(dataset));
  const table = `recorder.${seriesTableOf(dataset)}`;
  await loading.rows(
    `insert into ${table} (${names}) select ${names} from ${staged} except select ${names} from ${table} order by ${names}`,
  );
}

/**
 * Moves staged rows into their table. Only the newest row of each version is moved.
 * @returns the number of moved rows
 */
async function moveNewest(
  loading: BulkLoad,
  { table, identity }: RestorePart,
  staged: string,
  known: ReadonlySet<string>,
): Promise<number> {
  const list = quotedNames(known);
  const version = quotedNames(identity ?? []);
  const newest = identity
    ? `select distinct on (${version}) ${list} from ${staged} order by ${version}, ${EXPORTED_AT} desc`
    : `select ${list} from ${staged}`;
  const numbered = numberedNamed(table);
  const request = new Set(numbered ? requestColumns(numbered) : []);
  const own = quotedNames([
    ...(numbered ? [SERIES_ID] : []),
    ...[...known].filter((name) => !request.has(name)),
  ]);
  const series = numbered
    ? ` join recorder.${seriesTableOf(numbered)} s using (${quotedNames(request)})`
    : '';
  const [row] = await loading.rows(
    `with moved as (
       insert into recorder.${table} (${own}) select ${own} from (${newest}) r${series} returning 1)
     select count(*)::float8 as rows from moved`,
  );
  await loading.rows(`drop table ${staged}`);
  return Number(row?.rows);
}

/** Maximum restored sequence value. Sequences below this value do not run out of values. */
const MAX_SEQUENCE_VALUE = 2n ** 62n;

/**
 * Sets the sequences of identity and serial columns, so that no value is assigned twice.
 * @param numbers last values by `table.column`
 * @throws RestoreRefusedError if a value is below the value of an existing row, or its column has no sequence
 */
async function setSequences(
  loading: BulkLoad,
  numbers: Readonly<Record<string, string>>,
  from: string,
): Promise<void> {
  const columns = new Map<string, { table: string; column: string; sequence: string }>();
  for (const row of await loading.rows(sequenceColumns)) {
    const [table, column] = [String(row.table), String(row.column)];
    columns.set(`${table}.${column}`, { table, column, sequence: String(row.sequence) });
  }
  const refuse = (name: string, why: string) =>
    new RestoreRefusedError(
      `${from}: the sequence value of ${name} in the manifest ${why}: nothing was restored`,
    );
  for (const [name, last] of Object.entries(numbers)) {
    const known = columns.get(name);
    if (!known) throw refuse(name, 'belongs to no identity or serial column');
    if (BigInt(last) < 1n || BigInt(last) > MAX_SEQUENCE_VALUE)
      throw refuse(name, `is ${last}, which is outside of the valid range`);
    columns.delete(name);
    const [row] = await loading.rows(
      `select max("${known.column}")::text as highest from recorder.${known.table}`,
    );
    const highest = row?.highest ?? null;
    if (highest !== null && BigInt(String(highest)) > BigInt(last))
      throw refuse(name, `is ${last}, but a row has the higher value ${String(highest)}`);
    await loading.rows('select setval($1::regclass, $2::bigint)', [known.sequence, last]);
  }
  // A column without a value in the manifest had assigned none, so its table must be empty.
  for (const [name, { table }] of columns) {
    const [row] = await loading.rows(`select exists (select from recorder.${table}) as filled`);
    if (row?.filled === true) throw refuse(name, 'is missing, although the table has rows');
  }
}

/**
 * Compares the newest seal with the exported seal.
 * @throws Error if the seals differ
 */
async function compareHead(loading: BulkLoad, head: string | null): Promise<void> {
  const [row] = await loading.rows('select head from recorder.seals order by seal desc limit 1');
  const found = row ? String(row.head) : null;
  if (found !== head)
    throw new Error(
      `the newest seal is ${found ?? 'none'} instead of ${head ?? 'none'} as in the manifest: nothing was restored`,
    );
}
