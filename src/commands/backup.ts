import { Presets, SingleBar } from 'cli-progress';
import { backUp } from '../backups/backup.ts';
import { exitCode } from './exit.ts';
import { printJson, printLine, tell } from './output.ts';

/** `backup --to FOLDER`: dumps one snapshot of the database, with a manifest. @returns the exit code; 75 when it was stopped */
export async function backupCommand(
  databaseUrl: string,
  { to, json }: { to: string; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const progress = progressBar(!json);
  try {
    const made = await backUp({ databaseUrl, to, signal, progress: progress.update });
    progress.stop();
    const { taken_at, dump, contents } = made;
    const rows = Object.values(contents.tables).reduce((sum, count) => sum + count, 0);
    if (json) printJson({ to, ...made });
    else
      printLine(
        `${to}: ${megabytes(dump.bytes)} MB, ${rows} rows of ${Object.keys(contents.tables).length} tables as of ${taken_at}, ` +
          (contents.seal ? `seal ${contents.seal.seal} ${contents.seal.head}` : 'nothing is sealed yet'),
      );
    return exitCode.done;
  } catch (error) {
    progress.stop();
    if (!signal.aborted) throw error;
    tell('interrupted: there is no backup: run the same command again');
    return exitCode.later;
  }
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** A bar over the tables that are counted, on a terminal only. How long the dump becomes is not known before. */
function progressBar(wanted: boolean) {
  if (!wanted || !process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar(
    {
      stream: process.stderr,
      // What stands behind the bar takes up to 50 characters.
      barsize: Math.min(40, Math.max(0, (process.stderr.columns || 80) - 50)),
      format: '{bar} {value}/{total} tables counted | {dumped} MB | {duration_formatted}',
    },
    Presets.shades_classic,
  );
  bar.start(1, 0, { dumped: megabytes(0) });
  return {
    update: (counted: number, tables: number, bytes: number) => {
      if (tables > 0) bar.setTotal(tables);
      bar.update(counted, { dumped: megabytes(bytes) });
    },
    stop: () => bar.stop(),
  };
}
