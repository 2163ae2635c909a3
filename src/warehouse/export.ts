import { randomUUID } from 'node:crypto';
import type { ExportFormat } from '../config/exports-schema.ts';
import { type Snapshot, withSnapshot } from '../db/snapshot.ts';
import { readVersion } from '../lib/version.ts';
import { explainWriteErrors } from '../lib/write-errors.ts';
import {
  bookkeepingTable,
  bookkeepingTables,
  countMigrations,
  findValidParts,
  readSequenceValues,
} from './bookkeeping.ts';
import { type DamagedFile, findDamagedFiles } from './damaged-files.ts';
import { type ExportTable, warehouseTables } from './export-table.ts';
import {
  bookkeepingPaths,
  commitManifest,
  type LostRows,
  type Manifest,
  type Manifests,
  type ManifestTable,
  readManifests,
} from './manifest.ts';
import { firstSeal, isSameRecord, newestManifestSeal } from './record-seals.ts';
import { selectRowsSince } from './rows-since.ts';
import { describeColumns, type TableExport, writeTable } from './table-files.ts';
import { findInexactColumns, planTable, readKeptSince } from './table-plan.ts';
import type { ExportTarget } from './target.ts';
import { announceExport, removeUnfinishedExports, withdrawExport } from './unfinished-exports.ts';
import { readWatermark, type Watermark } from './watermark.ts';

/** Input of an export. */
export interface ExportInput {
  readonly databaseUrl: string;
  readonly target: ExportTarget;
  readonly tables: readonly ExportTable[];
  readonly format: ExportFormat;
  /**
   * True: exports only rows recorded since the last export of each table, and rows of its missing or damaged
   * files. False: exports all rows and replaces the existing files.
   */
  readonly incremental: boolean;
  /**
   * True: reads the existing files and compares their SHA-256 with the manifest. Default: compares only names
   * and sizes.
   */
  readonly verify?: boolean;
  /** Stops the export; the previous export stays valid. */
  readonly signal: AbortSignal;
  /** Called periodically with the progress. */
  readonly progress?: (done: { readonly tables: number; readonly rows: number }) => void;
}

/** Result of the export of a table. */
export interface ExportedTable {
  readonly table: string;
  /**
   * Reason why an incremental export exported all rows; null if only new rows were exported, or if the export
   * was not incremental.
   */
  readonly whole: string | null;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  /** Number of days that had many files and were written again. */
  readonly compacted: number;
  /** Columns that the files of earlier exports do not have. */
  readonly added: readonly string[];
}

export interface ExportResult {
  readonly manifest: Manifest;
  readonly tables: readonly ExportedTable[];
  /** Files of the last export that differed from its manifest, and are no longer listed. */
  readonly damaged: readonly DamagedFile[];
  /** Paths of manifests that were truncated or changed. */
  readonly damagedManifests: readonly string[];
  /** Rows of damaged files of days whose rows the database may have removed. */
  readonly lost: readonly LostRows[];
}

/** Error of an export whose manifest another exporter wrote first. The files of this export are not valid. */
export class ExportLostError extends Error {
  override readonly name = 'ExportLostError';

  constructor(target: string) {
    super(
      `${target}: another export to this target finished first, so the files of this export are not valid: run the export again, and run only one export per target at a time`,
    );
  }
}

/** Error of an export that is incompatible with the existing files. */
export class ExportRefusedError extends Error {
  override readonly name = 'ExportRefusedError';
}

/**
 * Exports tables from one snapshot. The manifest is written last: until then, or if the export fails, the
 * previous manifest stays valid.
 * @throws ExportLostError, ExportRefusedError, UsageError if files cannot be created in the target, and
 * errors of the database or the target
 */
export function exportTables(exporting: ExportInput): Promise<ExportResult> {
  return explainWriteErrors(exporting.target.local, () => exportInto(exporting));
}

async function exportInto(exporting: ExportInput): Promise<ExportResult> {
  const { databaseUrl, target, signal } = exporting;
  const manifests = await readManifests(target);
  for (const { name } of exporting.tables) rejectOtherFormat(exporting, manifests.newest, name);
  const superseded = await removeSuperseded(target, manifests.newest);
  const written = await withSnapshot(databaseUrl, signal, (snapshot) =>
    writeFiles(snapshot, exporting, manifests, superseded.remaining),
  );
  signal.throwIfAborted();
  if (!(await commitManifest(target, written.manifest))) {
    await withdrawExport(target, written.manifest, written.paths);
    throw new ExportLostError(target.name);
  }
  // No reader can use a damaged file.
  await target.remove(written.damaged.map(({ path }) => path));
  if (superseded.error) throw superseded.error;
  await removeUnfinishedExports(target, written.manifest);
  const { paths: _, ...exported } = written;
  return { ...exported, damagedManifests: manifests.damaged };
}

/**
 * Removes the files that the last export superseded. Their readers had the time since that export to finish.
 * @returns the files that could not be removed, with the reason; the next manifest lists these files again
 */
async function removeSuperseded(
  target: ExportTarget,
  last: Manifest | null,
): Promise<{ readonly remaining: readonly string[]; readonly error?: unknown }> {
  const paths = last?.superseded ?? [];
  try {
    await target.remove(paths);
    return { remaining: [] };
  } catch (error) {
    return { remaining: paths, error };
  }
}

function rejectOtherFormat(
  { incremental, format, target }: ExportInput,
  last: Manifest | null,
  name: string,
): void {
  const there = last?.tables[name]?.format;
  if (incremental && there !== undefined && there !== format)
    throw new ExportRefusedError(
      `${target.name}: ${name} was exported as ${there}: use --format ${there}, or export everything, without --incremental`,
    );
}

/** Rejects a replica that has not yet replayed the rows that an earlier export contains. */
async function rejectOlderSnapshot(
  snapshot: Snapshot,
  { tables, target }: ExportInput,
  last: Manifest | null,
  mark: Watermark,
): Promise<void> {
  const [row] = await snapshot.rows('select pg_is_in_recovery() as standby');
  const newer = tables.find(({ name }) => {
    const before = last?.tables[name]?.watermark;
    return before && before.system === mark.system && BigInt(before.xid) > BigInt(mark.xid);
  });
  if (row?.standby === true && newer)
    throw new ExportRefusedError(
      `${target.name}: the last export has newer rows of ${newer.name} than the replica in REPORTING_DATABASE_URL: wait until the replica has caught up`,
    );
}

interface WrittenExport extends Omit<ExportResult, 'damagedManifests'> {
  /** Paths of the written files. */
  readonly paths: readonly string[];
}

async function writeFiles(
  snapshot: Snapshot,
  exporting: ExportInput,
  { newest: last, last: lastNumber }: Manifests,
  remaining: readonly string[],
): Promise<WrittenExport> {
  const { target, signal, progress, incremental } = exporting;
  const mark = await readWatermark(snapshot);
  await rejectOlderSnapshot(snapshot, exporting, last, mark);
  const same = last !== null && (await isSameRecord(snapshot, last));
  const exportedAt = toLaterInstant(mark.at, last?.exported_at);
  const number = lastNumber + 1;
  const by = { export: number, id: randomUUID() };
  const tables: Record<string, ManifestTable> = { ...last?.tables };
  const exportedTables: ExportedTable[] = [];
  const paths: string[] = [];
  const superseded: string[] = [...remaining];
  const changes = [...(last?.changes ?? [])];
  const lost: LostRows[] = [];
  const scratch = await target.scratch();
  const whole = warehouseTables.every(({ name }) => exporting.tables.some((one) => one.name === name));
  const damaged = await damagedOf(exporting, last, whole, scratch);
  const damagedPaths = new Set(damaged.map(({ path }) => path));
  superseded.push(...damagedPaths);
  let rows = 0;
  const common = {
    ...{ snapshot, format: exporting.format, target, scratch, by, exportedAt, signal, paths },
    wrote: (more: number) => {
      rows += more;
      progress?.({ tables: exportedTables.length, rows });
    },
  };
  await announceExport(target, by);
  try {
    for (const table of exporting.tables) {
      const before = tables[table.name];
      const plan = planTable({
        ...{ incremental, before, damaged: damagedPaths, watermark: mark },
        kept: same ? await readKeptSince(snapshot, table.dataset) : '',
      });
      const kept = plan.staying;
      lost.push(...plan.lost.map(({ day, rows }) => ({ export: number, table: table.name, day, rows })));
      const basis = plan.since || kept.length > 0 ? before : undefined;
      const written = await writeTable({
        ...common,
        table,
        select: selectRowsSince(table, plan),
        emptyFile: kept.length === 0,
        inexact: findInexactColumns(basis),
      });
      superseded.push(
        ...(before?.files ?? [])
          .filter((one) => !kept.includes(one) && !damagedPaths.has(one.path))
          .map(({ path }) => path),
      );
      const columns = describeColumns(written.columns, basis?.columns, number);
      const added = basis ? columns.filter((one) => one.since === number).map(({ name }) => name) : [];
      if (added.length > 0) changes.push({ export: number, table: table.name, added });
      tables[table.name] = {
        dataset: table.dataset,
        kind: table.kind,
        key: [...table.key],
        from: table.from,
        to: table.to,
        format: exporting.format,
        columns,
        watermark: mark,
        exported_at: exportedAt,
        files: [...kept, ...written.files],
      };
      exportedTables.push({
        table: table.name,
        whole: plan.whole,
        rows: written.files.reduce((sum, one) => sum + one.rows, 0),
        files: written.files.length,
        bytes: written.files.reduce((sum, one) => sum + one.bytes, 0),
        compacted: plan.compacted,
        added,
      });
      progress?.({ tables: exportedTables.length, rows });
    }
    const seal = await newestManifestSeal(snapshot);
    const isAppended = incremental && !damaged.some(({ table }) => table === 'seal_parts');
    const bookkeeping = whole
      ? await writeBookkeeping(common, seal, isAppended ? (last?.bookkeeping ?? null) : null)
      : (last?.bookkeeping ?? null);
    const counting = new Set([...bookkeepingPaths(bookkeeping), ...damagedPaths]);
    superseded.push(...bookkeepingPaths(last?.bookkeeping ?? null).filter((path) => !counting.has(path)));
    const manifest: Manifest = {
      manifest: 1,
      recorder: readVersion(),
      ...by,
      exported_at: exportedAt,
      seal,
      first_seal: await firstSeal(snapshot),
      tables,
      bookkeeping,
      changes,
      superseded,
      lost: [...(last?.lost ?? []), ...lost],
    };
    return { manifest, tables: exportedTables, paths, damaged, lost };
  } catch (error) {
    await withdrawExport(target, by, paths).catch(() => {});
    throw error;
  }
}

/** Returns the files of the last export that differ from their description in the manifest. */
async function damagedOf(
  { target, tables, incremental, verify = false, signal }: ExportInput,
  manifest: Manifest | null,
  bookkeeping: boolean,
  scratch: string,
): Promise<DamagedFile[]> {
  if (!incremental || manifest === null) return [];
  const names = tables.map(({ name }) => name);
  return findDamagedFiles({ target, manifest, tables: names, bookkeeping, hashes: verify, scratch, signal });
}

type Bookkeeping = NonNullable<Manifest['bookkeeping']>;

/**
 * Writes the tables that a restore needs besides the rows of datasets.
 * @param last previous bookkeeping whose files may be reused; null: no files are reused
 */
async function writeBookkeeping(
  common: Omit<TableExport, 'table' | 'select' | 'inexact' | 'emptyFile'>,
  seal: Manifest['seal'],
  last: Bookkeeping | null,
): Promise<Bookkeeping> {
  const { snapshot, format, exportedAt } = common;
  const parts = await findValidParts(snapshot, last?.format === format ? last : null);
  const tables: Bookkeeping['tables'] = {};
  for (const name of bookkeepingTables) {
    const previous = name === 'seal_parts' ? parts : { after: 0, files: [] };
    const one = await bookkeepingTable(snapshot, name, previous.after);
    const { files } = await writeTable({ ...common, ...one, emptyFile: false, inexact: new Set() });
    tables[name] = {
      columns: one.table.columns.map((column) => column.name),
      files: [...previous.files, ...files.map(({ day: _, ...file }) => file)],
    };
  }
  const numbers = await readSequenceValues(snapshot);
  const migrations = await countMigrations(snapshot);
  return { exported_at: exportedAt, migrations, format, seal, numbers, tables };
}

/**
 * Returns an `exported_at` that is later than the `exported_at` of the last export, even if the clock was set
 * back. Both are ISO 8601, in microseconds.
 */
function toLaterInstant(at: string, last: string | undefined): string {
  return last === undefined || at > last ? at : after(last);
}

function after(at: string): string {
  const micros = BigInt(Date.parse(`${at.slice(0, 19)}Z`)) * 1000n + BigInt(at.slice(20, 26)) + 1n;
  const seconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`;
}
