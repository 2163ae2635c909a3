import { Presets, SingleBar } from 'cli-progress';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { selectReadSource } from '../../app/read-source.ts';
import type { Environment } from '../../config/environment.ts';
import { EXPORT_FORMATS } from '../../config/exports-schema.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import {
  type ExportInput,
  ExportLostError,
  ExportRefusedError,
  type ExportResult,
  exportTables,
} from '../../warehouse/export.ts';
import { warehouseTables } from '../../warehouse/export-table.ts';
import { openTarget } from '../../warehouse/open-target.ts';
import { unknownDatasetText } from '../select-targets.ts';

export interface ExportOptions {
  readonly to: string;
  readonly format: string;
  readonly incremental?: boolean;
  readonly verify?: boolean;
  readonly json: boolean;
}

/** Argument that selects every dataset. */
const ALL_DATASETS = 'all';

/**
 * Command `export DATASET... --to DIR|s3://BUCKET/PREFIX [--format F] [--incremental [--verify]]`: writes
 * files for a warehouse, with a manifest.
 * @returns the exit code; 75 if a concurrent export finished first, or the signal stopped the command
 */
export async function exportCommand(
  app: App,
  datasets: readonly string[],
  options: ExportOptions,
  signal: AbortSignal,
): Promise<number> {
  const { tables, format } = readOptions(datasets, options);
  const { incremental = false, verify = false, to, json } = options;
  const { url } = await selectReadSource(app);
  const { s3 } = app.environment;
  return exportTo(
    { databaseUrl: url, to, s3, tables, format, incremental, verify, json, signal },
    (exported) => printExported(exported, json),
  );
}

/** Input of {@link exportTo}. */
export interface ExportRun
  extends Pick<ExportInput, 'databaseUrl' | 'tables' | 'format' | 'incremental' | 'verify' | 'signal'>,
    Pick<Environment, 's3'> {
  readonly to: string;
  readonly json: boolean;
}

/**
 * Exports tables and prints the result.
 * @returns the exit code; 1 if rows of a damaged file are lost, 75 if a concurrent export finished first, or
 * the signal stopped the export
 * @throws UsageError if the target is invalid, or its content is incompatible with the export
 */
export async function exportTo(
  { to, s3, json, ...run }: ExportRun,
  print: (exported: ExportResult) => void,
): Promise<number> {
  const target = await openTarget(to, s3);
  const progress = createTableProgress(run.tables.length, !json);
  try {
    const exported = await exportTables({ ...run, target, progress: progress.update });
    progress.stop();
    print(exported);
    printDamages(exported);
    return exported.lost.length > 0 ? exitCode.failed : exitCode.done;
  } catch (error) {
    progress.stop();
    if (run.signal.aborted) {
      printNotice('interrupted: the previous export stays valid; run the same command again');
      return exitCode.later;
    }
    if (error instanceof ExportRefusedError) throw new UsageError([error.message]);
    if (!(error instanceof ExportLostError)) throw error;
    printNotice(error.message);
    return exitCode.later;
  } finally {
    await target.close();
  }
}

/**
 * Parses the datasets and options of `export`.
 * @throws UsageError with every problem
 */
function readOptions(datasets: readonly string[], { format, incremental, verify }: ExportOptions) {
  const names = new Set(warehouseTables.map(({ dataset }) => dataset));
  const wrong = datasets.filter((name) => name !== ALL_DATASETS && !names.has(name)).map(unknownDatasetText);
  const known = EXPORT_FORMATS.find((one) => one === format);
  if (!known) wrong.push(`--format ${format}: must be one of ${EXPORT_FORMATS.join(', ')}`);
  if (verify && !incremental)
    wrong.push('--verify: requires --incremental, because a full export replaces all files');
  if (wrong.length > 0 || !known) throw new UsageError(wrong);
  const tables = warehouseTables.filter(
    ({ dataset }) => datasets.includes(ALL_DATASETS) || datasets.includes(dataset),
  );
  return { tables, format: known };
}

function printExported(
  { manifest, tables, damaged, damagedManifests, lost }: ExportResult,
  json: boolean,
): void {
  if (json) {
    printJson({
      export: manifest.export,
      exported_at: manifest.exported_at,
      seal: manifest.seal,
      tables,
      damaged,
      damaged_manifests: damagedManifests,
      lost,
    });
    return;
  }
  printTable(
    tables.map(({ table, rows, files, bytes }) => ({ table, rows, files, bytes })),
    'nothing was exported',
  );
  for (const { table, whole, added, compacted } of tables) {
    if (whole !== null) printNotice(`${table}: all rows were exported: ${whole}`);
    if (added.length > 0) printNotice(`${table}: new columns: ${added.join(', ')}`);
    if (compacted > 0) printNotice(`${table}: ${compacted} days had many files and were written again`);
  }
}

const PROBLEMS = {
  missing: 'was missing',
  size: 'had another size than in its manifest',
  content: 'had changed content',
} as const;

function printDamages({ damaged, damagedManifests, lost }: ExportResult): void {
  for (const path of damagedManifests)
    printNotice(`${path}: was truncated or changed: the newest intact manifest was used`);
  for (const { path, problem } of damaged)
    printNotice(`${path}: ${PROBLEMS[problem]}: its rows were exported again`);
  for (const { table, day, rows } of lost)
    printNotice(
      `${table}: up to ${rows} rows of ${day} are lost with their file: a retention removed rows of that day, which cannot be exported again`,
    );
}

/** Creates a progress bar over the tables, on a terminal only. The number of rows is not known in advance. */
function createTableProgress(all: number, isEnabled: boolean) {
  if (!isEnabled || !process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar(
    {
      stream: process.stderr,
      // The text after the bar has up to 50 characters.
      barsize: Math.min(40, Math.max(0, (process.stderr.columns || 80) - 50)),
      format: '{bar} {value}/{total} tables | {rows} rows | {duration_formatted}',
    },
    Presets.shades_classic,
  );
  bar.start(all, 0, { rows: 0 });
  return {
    update: ({ tables: done, rows }: { tables: number; rows: number }) => bar.update(done, { rows }),
    stop: () => bar.stop(),
  };
}
