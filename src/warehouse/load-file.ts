import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BulkLoad } from '../db/bulk-load.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { formatCopyRow, type TextRow } from '../db/copy-text.ts';
import { splitIntoChunks } from '../lib/chunk.ts';
import { explainWriteErrors } from '../lib/write-errors.ts';
import { sha256Of } from './hashed-file.ts';
import { openParquet } from './parquet-rows.ts';
import { type RestoreFile, RestoreRefusedError } from './restore-plan.ts';
import type { ExportTarget } from './target.ts';

/** Additional column of the files: the time of the export. */
export const EXPORTED_AT = 'exported_at';
/** Suffix of the text column with the exact values of a DECIMAL column. */
const EXACT_SUFFIX = '_exact';

/** Reports write errors of the temporary folder, into which remote files are downloaded. */
export const explainDownloadErrors = <Result>(make: () => Promise<Result>) =>
  explainWriteErrors(`TMPDIR ${tmpdir()}`, make);

/** Formats names of columns as a list of SQL. */
export const quotedNames = (names: Iterable<string>): string =>
  [...names].map((name) => `"${name}"`).join(', ');

/**
 * Copies a file into a table that may have {@link EXPORTED_AT}.
 * @returns the number of rows
 */
export async function loadFile(
  loading: BulkLoad,
  into: string,
  known: ReadonlySet<string>,
  source: ExportTarget,
  file: RestoreFile,
  scratch: string,
  signal: AbortSignal,
): Promise<number> {
  const local = await explainDownloadErrors(() => source.fetch(file.path, scratch));
  const where = `${source.name}/${file.path}`;
  try {
    if ((await sha256Of(local, signal)) !== file.sha256)
      throw new Error(
        `${where}: differs from the exported file: the SHA-256 does not match the manifest. Use another copy; nothing was restored`,
      );
    const parquet = await openParquet(local);
    try {
      const staged = !into.startsWith('recorder.');
      const loadedColumns = parquet.columns.filter(
        (name) => known.has(name) || (staged && name === EXPORTED_AT),
      );
      const unknown = parquet.columns.filter(
        (name) =>
          !known.has(name) &&
          name !== EXPORTED_AT &&
          !(name.endsWith(EXACT_SUFFIX) && known.has(name.slice(0, -EXACT_SUFFIX.length))),
      );
      if (unknown.length > 0)
        throw new RestoreRefusedError(
          `${where}: has the columns ${unknown.join(', ')}, which this version does not support: restore with the version that exported it, or a newer one`,
        );
      const places = loadedColumns.map((name) => ({
        own: parquet.columns.indexOf(name),
        exact: parquet.columns.indexOf(`${name}${EXACT_SUFFIX}`),
      }));
      let rows = 0;
      await pipeline(
        async function* () {
          for await (const group of parquet.groups()) {
            rows += group.length;
            for (const chunk of splitIntoChunks(group, CHUNK_ROWS))
              yield chunk.map((row) => formatCopyRow(places.map((place) => valueIn(row, place)))).join('');
          }
        },
        loading.copy(`${into} (${quotedNames(loadedColumns)})`),
      );
      if (rows !== file.rows)
        throw new Error(`${where}: has ${rows} rows instead of ${file.rows} as in the manifest`);
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

/** Returns the exact value of a column if the file has one, otherwise the value. */
const valueIn = (row: TextRow, { own, exact }: { readonly own: number; readonly exact: number }) =>
  (exact < 0 ? null : row[exact]) ?? row[own] ?? null;
