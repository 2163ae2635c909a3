import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findDataset } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { requestColumns, SERIES_ID, seriesTableOf, tableRowsSql } from '../datasets/target-columns.ts';
import { type BulkLoad, withBulkLoad } from '../db/bulk-load.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { explainWriteErrors } from '../lib/write-errors.ts';
import { readingTables, sequenceColumns } from './bookkeeping.ts';
import { sha256Of } from './hashed-file.ts';
import { currentManifest, type Manifest } from './manifest.ts';
import { openParquet, type TextValue } from './parquet-rows.ts';
import { type RestoreFile, type RestorePart, RestoreRefusedError, restorePlan } from './restore-plan.ts';
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
  /** Sentences about rows that are not consistent with one moment. */
  readonly doubts: readonly string[];
}

/** Additional column of the files: the time of the export. */
const EXPORTED_AT = 'exported_at';
/** Suffix of the text column with the exact values of a DECIMAL column. */
const EXACT_SUFFIX = '_exact';

/** Reports write errors of the temporary folder, into which remote files are downloaded. */
const brought = <Made>(make: () => Promise<Made>) => explainWriteErrors(`TMPDIR ${tmpdir()}`, make);

/**
 * Restores an exported record into an empty database, in one transaction. Verifies the checksum of each file
 * before reading it.
 * @throws RestoreRefusedError, and errors of the database, the source or a damaged file
 */
export async function restoreRecord({
  databaseUrl,
  source,
  signal,
  progress,
}: RestoreInput): Promise<RestoreResult> {
  const { manifest, bookkeeping, parts, doubts } = restorePlan(await currentManifest(source), source.name);
  const all = parts.reduce((sum, { files }) => sum + files.reduce((more, { bytes }) => more + bytes, 0), 0);
  const scratch = await brought(() => mkdtemp(join(tmpdir(), 'chain-recorder-restore-')));
  let bytes = 0;
  try {
    return await withBulkLoad(databaseUrl, signal, async (loading) => {
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
      return { manifest, tables: [...rows].map(([table, count]) => ({ table, rows: count })), doubts };
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
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

const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(', ');

/**
 * Creates a temporary copy of a table's columns, with {@link EXPORTED_AT}.
 * @returns its name
 */
async function createStagingTable(
  loading: BulkLoad,
  table: string,
  known: ReadonlySet<string>,
): Promise<string> {
  await loading.rows(
    `create temporary table staged on commit drop as
     select ${quoted(known)}, null::timestamptz as ${EXPORTED_AT} from ${rowsNamed(table)} r with no data`,
  );
  return 'pg_temp.staged';
}

/** Returns SQL: FROM item with the rows of a table as they are in files. */
function rowsNamed(table: string): string {
  const numbered = numberedNamed(table);
  return numbered ? tableRowsSql(numbered) : `recorder.${table}`;
}

/** Assigns ids to staged series that have none. */
async function numberSeries(loading: BulkLoad, dataset: Dataset, staged: string): Promise<void> {
  const names = quoted(requestColumns(dataset));
  const table = `recorder.${seriesTableOf(dataset)}`;
  await loading.rows(
    `insert into ${table} (${names}) select ${names} from ${staged} except select ${names} from ${table} order by ${names}`,
  );
}

/**
 * Moves staged rows into their table, only the newest of each version.
 * @returns the number of moved rows
 */
async function moveNewest(
  loading: BulkLoad,
  { table, identity }: RestorePart,
  staged: string,
  known: ReadonlySet<string>,
): Promise<number> {
  const list = quoted(known);
  const version = quoted(identity ?? []);
  const newest = identity
    ? `select distinct on (${version}) ${list} from ${staged} order by ${version}, ${EXPORTED_AT} desc`
    : `select ${list} from ${staged}`;
  const numbered = numberedNamed(table);
  const request = new Set(numbered ? requestColumns(numbered) : []);
  const own = quoted([...(numbered ? [SERIES_ID] : []), ...[...known].filter((name) => !request.has(name))]);
  const series = numbered ? ` join recorder.${seriesTableOf(numbered)} s using (${quoted(request)})` : '';
  const [row] = await loading.rows(
    `with moved as (
       insert into recorder.${table} (${own}) select ${own} from (${newest}) r${series} returning 1)
     select count(*)::float8 as rows from moved`,
  );
  await loading.rows(`drop table ${staged}`);
  return Number(row?.rows);
}

/**
 * Copies a file into a table that may have {@link EXPORTED_AT}.
 * @returns the number of rows
 */
async function loadFile(
  loading: BulkLoad,
  into: string,
  known: ReadonlySet<string>,
  source: ExportTarget,
  file: RestoreFile,
  scratch: string,
  signal: AbortSignal,
): Promise<number> {
  const local = await brought(() => source.fetch(file.path, scratch));
  const where = `${source.name}/${file.path}`;
  try {
    if ((await sha256Of(local, signal)) !== file.sha256)
      throw new Error(
        `${where}: differs from the exported file: the SHA-256 does not match the manifest. Use another copy; nothing was restored`,
      );
    const parquet = await openParquet(local);
    try {
      const staged = !into.startsWith('recorder.');
      const wanted = parquet.columns.filter((name) => known.has(name) || (staged && name === EXPORTED_AT));
      const unknown = parquet.columns.filter(
        (name) =>
          !known.has(name) &&
          name !== EXPORTED_AT &&
          !(name.endsWith(EXACT_SUFFIX) && known.has(name.slice(0, -EXACT_SUFFIX.length))),
      );
      if (unknown.length > 0)
        throw new RestoreRefusedError(
          `${where}: has ${unknown.join(', ')}, which this version does not support: restore with the version that exported it, or a newer one`,
        );
      const places = wanted.map((name) => ({
        own: parquet.columns.indexOf(name),
        exact: parquet.columns.indexOf(`${name}${EXACT_SUFFIX}`),
      }));
      let rows = 0;
      await pipeline(
        async function* () {
          for await (const group of parquet.groups()) {
            rows += group.length;
            yield* formatChunks(group, (row) =>
              places
                .map(({ own, exact }) => escaped((exact < 0 ? null : row[exact]) ?? row[own] ?? null))
                .join('\t'),
            );
          }
        },
        loading.copy(`${into} (${quoted(wanted)})`),
      );
      if (rows !== file.rows)
        throw new Error(`${where}: has ${rows} rows, and the manifest says ${file.rows}`);
      return rows;
    } finally {
      await parquet.close();
    }
  } catch (error) {
    if (error instanceof RestoreRefusedError || !(error instanceof Error) || error.message.startsWith(where))
      throw error;
    // A lost connection is not a problem of the file and is reported unchanged.
    if (isDatabaseUnavailable(error)) throw error;
    throw new Error(`${where}: ${error.message}`, { cause: error });
  } finally {
    if (dirname(local) === scratch) await rm(local, { force: true });
  }
}

/** Number of rows in one chunk. */
const CHUNK_ROWS = 1_000;

function* formatChunks(
  rows: readonly (readonly TextValue[])[],
  line: (row: readonly TextValue[]) => string,
): Generator<Buffer> {
  for (let at = 0; at < rows.length; at += CHUNK_ROWS)
    yield Buffer.from(
      `${rows
        .slice(at, at + CHUNK_ROWS)
        .map(line)
        .join('\n')}\n`,
    );
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Formats a value in the text format of COPY. */
const escaped = (value: TextValue): string =>
  value === null ? '\\N' : value.replaceAll(/[\\\n\r\t]/g, (one) => ESCAPES[one] ?? one);

/** Maximum of a restored sequence value. The values below it never run out. */
const MAX_SEQUENCE_VALUE = 2n ** 62n;

/**
 * Sets the sequences of identity and serial columns, so that no value is assigned twice.
 * @param numbers by `table.column`
 * @throws RestoreRefusedError if a value is below that of an existing row, or its column has no sequence
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
    new RestoreRefusedError(`${from}: the number of ${name} in the manifest ${why}: nothing was restored`);
  for (const [name, last] of Object.entries(numbers)) {
    const known = columns.get(name);
    if (!known) throw refuse(name, 'is of no column that numbers rows');
    if (BigInt(last) < 1n || BigInt(last) > MAX_SEQUENCE_VALUE)
      throw refuse(name, `is ${last}, which no row can have`);
    columns.delete(name);
    const [row] = await loading.rows(
      `select max("${known.column}")::text as highest from recorder.${known.table}`,
    );
    const highest = row?.highest ?? null;
    if (highest !== null && BigInt(String(highest)) > BigInt(last))
      throw refuse(name, `is ${last}, and a row has ${String(highest)}`);
    await loading.rows('select setval($1::regclass, $2::bigint)', [known.sequence, last]);
  }
  // A column without a value in the manifest had assigned none, so its table must be empty.
  for (const [name, { table }] of columns) {
    const [row] = await loading.rows(`select exists (select from recorder.${table}) as filled`);
    if (row?.filled === true) throw refuse(name, 'is missing, and there are rows');
  }
}

/**
 * Compares the newest seal with the exported one.
 * @throws Error if they differ
 */
async function compareHead(loading: BulkLoad, head: string | null): Promise<void> {
  const [row] = await loading.rows('select head from recorder.seals order by seal desc limit 1');
  const found = row ? String(row.head) : null;
  if (found !== head)
    throw new Error(
      `the newest seal is ${found ?? 'none'}, and the manifest says ${head ?? 'none'}: nothing was restored`,
    );
}
