import { join } from 'node:path';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { selectReadSource } from '../../app/read-source.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import { readAssets } from '../../server/assets.ts';
import { FIRST_PAGE, statusFiles } from '../../server/pages/status/files.ts';
import { readStatusSite } from '../../server/status-site.ts';
import { writeSite } from '../../server/write-site.ts';
import type { ReportOptions } from './saved-query.ts';

/**
 * Command `report status --out FOLDER`: writes the status page of the nodes as files for any web server.
 * @returns the exit code; 75 if the command was stopped, without any change
 * @throws UsageError if an option is invalid, or the folder is not writable
 */
export async function statusFilesCommand(
  app: App,
  { out, format }: ReportOptions,
  signal: AbortSignal,
): Promise<number> {
  const problems = [
    ...(format === 'table' || format === 'json' ? [] : [`--format ${format}: must be one of table, json`]),
    ...(out ? [] : ['--out: give the folder for the files, such as --out /var/www/status']),
  ];
  if (problems.length > 0 || !out) throw new UsageError(problems);
  const now = app.clock();
  const site = readStatusSite(app.config);
  const files = statusFiles((await selectReadSource(app)).sql, { site, assets: readAssets(), now });
  const paths = await writeSite(out, files, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (!paths) {
    printNotice('interrupted: no file was changed; run the command again');
    return exitCode.later;
  }
  const written = { at: new Date(now), files: paths.length, open: join(out, FIRST_PAGE) };
  if (format === 'json') printJson(written);
  else printTable([written], '');
  return exitCode.done;
}
