import { Presets, SingleBar } from 'cli-progress';
import type { App } from '../app.ts';
import { FORMATS } from '../config/exports-schema.ts';
import { UsageError } from '../errors.ts';
import { type Exported, ExportLost, ExportRefused, exportTables } from '../warehouse/export.ts';
import { warehouseTables } from '../warehouse/export-table.ts';
import { openTarget } from '../warehouse/open-target.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable, tell } from './output.ts';
import { readFrom } from './reading.ts';
import { noDataset } from './selection.ts';

/** The options of `export`. */
export interface ExportOptions {
  readonly to: string;
  readonly format: string;
  readonly since?: string;
  readonly json: boolean;
}

/** Stands for every dataset. */
const ALL = 'all';

/**
 * `export DATASET... --to DIR|s3://BUCKET/PREFIX [--format F] [--since last]`: files for a warehouse, with a manifest.
 * @returns the exit code; 75 when another export was faster, or it was stopped
 */
export async function exportCommand(
  app: App,
  datasets: readonly string[],
  options: ExportOptions,
  signal: AbortSignal,
): Promise<number> {
  const { chosen, format } = readOptions(datasets, options);
  const { url } = await readFrom(app);
  const target = await openTarget(options.to, app.environment.s3);
  const progress = progressOver(chosen.length, !options.json);
  try {
    const exported = await exportTables({
      databaseUrl: url,
      target,
      tables: chosen,
      format,
      sinceLast: options.since === 'last',
      signal,
      progress: progress.update,
    });
    progress.stop();
    told(exported, options.json);
    return exitCode.done;
  } catch (error) {
    progress.stop();
    if (signal.aborted) {
      tell('interrupted: what was exported before holds: run the same command again');
      return exitCode.later;
    }
    if (error instanceof ExportRefused) throw new UsageError([error.message]);
    if (!(error instanceof ExportLost)) throw error;
    tell(error.message);
    return exitCode.later;
  } finally {
    await target.close();
  }
}

/** @throws UsageError with everything that is wrong */
function readOptions(datasets: readonly string[], { format, since }: ExportOptions) {
  const names = new Set(warehouseTables.map(({ dataset }) => dataset));
  const wrong = datasets.filter((name) => name !== ALL && !names.has(name)).map(noDataset);
  const known = FORMATS.find((one) => one === format);
  if (!known) wrong.push(`--format ${format}: must be one of ${FORMATS.join(', ')}`);
  if (since !== undefined && since !== 'last') wrong.push(`--since ${since}: must be last`);
  if (wrong.length > 0 || !known) throw new UsageError(wrong);
  const chosen = warehouseTables.filter(
    ({ dataset }) => datasets.includes(ALL) || datasets.includes(dataset),
  );
  return { chosen, format: known };
}

function told({ manifest, tables }: Exported, json: boolean): void {
  if (json) {
    printJson({
      export: manifest.export,
      exported_at: manifest.exported_at,
      seal: manifest.seal,
      tables,
    });
    return;
  }
  printTable(
    tables.map(({ table, rows, files, bytes }) => ({ table, rows, files, bytes })),
    'nothing was exported',
  );
  for (const { table, whole, added, compacted } of tables) {
    if (whole !== null) tell(`${table}: exported whole: ${whole}`);
    if (added.length > 0) tell(`${table}: new columns: ${added.join(', ')}`);
    if (compacted > 0) tell(`${table}: ${compacted} days had many files and were written anew`);
  }
}

/** A bar over the tables, on a terminal only. How many rows there are is not known before. */
function progressOver(all: number, wanted: boolean) {
  if (!wanted || !process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar(
    {
      stream: process.stderr,
      // What stands behind the bar takes up to 50 characters.
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
