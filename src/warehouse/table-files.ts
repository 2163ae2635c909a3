import { join } from 'node:path';
import type { ExportFormat } from '../config/exports-schema.ts';
import type { TextRow } from '../db/copy-text.ts';
import type { Snapshot } from '../db/snapshot.ts';
import type { ExportTable } from './export-table.ts';
import { createParser, type FileColumn, fileColumns } from './file-columns.ts';
import { DecimalOverflowError, type FileWriter } from './file-writer.ts';
import { BOOKKEEPING_FOLDER, type ManifestFile, type ManifestTable } from './manifest.ts';
import { ParquetFile } from './parquet-file.ts';
import type { ExportTarget } from './target.ts';
import { createCsvWriter, createJsonLinesWriter } from './text-writer.ts';
import { type ExportId, exportMark } from './unfinished-exports.ts';

/** Maximum number of rows of a file. */
const MAX_FILE_ROWS = 1_000_000;
/** Interval of progress reports, in rows. */
const PROGRESS_INTERVAL_ROWS = 10_000;

/** Input for writing a table's files. */
export interface TableExport {
  readonly snapshot: Snapshot;
  readonly table: ExportTable;
  /** SQL of the rows: the columns in their order, then the day. */
  readonly select: string;
  readonly format: ExportFormat;
  readonly target: ExportTarget;
  /** A local folder for unfinished files. */
  readonly scratch: string;
  /** Number and id of the export, which are part of file names, so that no name is reused. */
  readonly by: ExportId;
  /** ISO 8601, in microseconds. */
  readonly exportedAt: string;
  /** True: a table without rows has one file, which contains only the columns. */
  readonly emptyFile: boolean;
  /** Columns with a value that fits no DECIMAL. */
  readonly inexact: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Receives every written path. */
  readonly paths: string[];
  /** Called with the number of rows written since the last call. */
  readonly wrote: (rows: number) => void;
}

/** Files of a table. */
export interface TableFiles {
  readonly columns: readonly FileColumn[];
  readonly files: readonly ManifestFile[];
}

/**
 * Writes the files of a table, day by day. If a value does not fit its column, all files are written again
 * with an additional text column.
 */
export async function writeTable(task: TableExport): Promise<TableFiles> {
  const inexact = new Set(task.inexact);
  for (;;) {
    const columns = fileColumns(task.table, inexact, task.exportedAt);
    const writing = new TableWriter(task, columns);
    const misfit = await writing.all();
    if (misfit === null) return { columns, files: writing.files };
    inexact.add(misfit);
    const paths = writing.files.map(({ path }) => path);
    await task.target.remove(paths);
    task.paths.splice(task.paths.length - paths.length);
  }
}

/** A file that is being written. */
interface OpenFile {
  readonly writer: FileWriter;
  readonly day: string;
  readonly local: string;
  readonly path: string;
  rows: number;
}

class TableWriter {
  readonly files: ManifestFile[] = [];
  readonly #task: TableExport;
  readonly #columns: readonly FileColumn[];
  readonly #parsers: readonly ReturnType<typeof createParser>[];
  #open: OpenFile | null = null;
  #unreported = 0;
  /** Column with a value that did not fit. The remaining rows are read and ignored. */
  #misfit: string | null = null;

  constructor(task: TableExport, columns: readonly FileColumn[]) {
    this.#task = task;
    this.#columns = columns;
    this.#parsers = columns.map(createParser);
  }

  /**
   * Writes all rows.
   * @returns the column with a value that did not fit; null if all rows are written
   */
  async all(): Promise<string | null> {
    const { snapshot, select, wrote, emptyFile, exportedAt } = this.#task;
    try {
      for await (const rows of snapshot.copy(select)) await this.#add(rows);
      await this.#finish();
      if (emptyFile && this.files.length === 0 && this.#misfit === null) {
        this.#begin(exportedAt.slice(0, '2026-11-22'.length));
        await this.#finish();
      }
    } finally {
      this.#open?.writer.abandon();
    }
    wrote(this.#unreported);
    return this.#misfit;
  }

  async #add(rows: readonly TextRow[]): Promise<void> {
    this.#task.signal.throwIfAborted();
    for (const row of rows) {
      const day = row.at(-1) ?? '';
      if (this.#open && (this.#open.day !== day || this.#open.rows >= MAX_FILE_ROWS)) await this.#finish();
      if (this.#misfit !== null) return;
      this.#write(this.#open ?? this.#begin(day), row);
    }
  }

  #write(open: OpenFile, row: TextRow): void {
    try {
      open.writer.add(this.#parsers.map((parse) => parse(row)));
    } catch (error) {
      this.#misses(error);
      return;
    }
    open.rows += 1;
    this.#unreported += 1;
    if (this.#unreported < PROGRESS_INTERVAL_ROWS) return;
    this.#task.wrote(this.#unreported);
    this.#unreported = 0;
  }

  /**
   * Abandons the file if a value does not fit its column.
   * @throws any other error unchanged
   */
  #misses(error: unknown): void {
    if (!(error instanceof DecimalOverflowError)) throw error;
    this.#misfit = error.column;
    this.#open?.writer.abandon();
    this.#open = null;
  }

  #begin(day: string): OpenFile {
    const { scratch, format, table, by } = this.#task;
    const local = join(scratch, `${table.name}-${this.files.length}-${this.#columns.length}`);
    const name = `part-${exportMark(by)}-${this.files.length}.${format}`;
    this.#open = {
      writer: writerOf(format, local, this.#columns),
      day,
      local,
      path: `${table.kind === 'bookkeeping' ? `${BOOKKEEPING_FOLDER}/${table.name}` : `${table.name}/day=${day}`}/${name}`,
      rows: 0,
    };
    return this.#open;
  }

  async #finish(): Promise<void> {
    if (!this.#open) return;
    const { writer, local, path, day } = this.#open;
    const written = await writer.finish().catch((error: unknown) => this.#misses(error));
    if (!written) return;
    await this.#task.target.take(local, path);
    this.#task.paths.push(path);
    this.files.push({ path, day, export: this.#task.by.export, ...written });
    this.#open = null;
  }
}

function writerOf(format: ExportFormat, path: string, columns: readonly FileColumn[]): FileWriter {
  switch (format) {
    case 'parquet':
      return new ParquetFile(path, columns);
    case 'csv':
      return createCsvWriter(path, columns);
    case 'jsonl':
      return createJsonLinesWriter(path, columns);
  }
}

/** Returns the columns for the manifest, with the number of the export that added each column. */
export function describeColumns(
  columns: readonly FileColumn[],
  before: ManifestTable['columns'] | undefined,
  number: number,
): ManifestTable['columns'] {
  return columns.map(({ name, type, stored, scale }) => ({
    name,
    type,
    stored,
    ...(stored === 'decimal' ? { scale } : {}),
    since: before?.find((one) => one.name === name)?.since ?? number,
  }));
}
