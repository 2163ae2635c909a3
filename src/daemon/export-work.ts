import { isAbsolute } from 'node:path';
import type { App } from '../app/app.ts';
import { selectReadSource } from '../app/read-source.ts';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import { readSecrets } from '../config/secrets.ts';
import { LOCKS, withRowLock } from '../db/row-lock.ts';
import type { ExportTasks } from '../jobs/export-jobs.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { createRedactor } from '../lib/redaction.ts';
import { checkTarget } from '../warehouse/examine-target.ts';
import { openTarget } from '../warehouse/open-target.ts';
import { runExporterProcess } from '../warehouse/run-exporter-process.ts';
import {
  dueExports,
  storeExportFailure,
  storeExportStart,
  storeExportSuccess,
} from '../warehouse/scheduled-exports.ts';

/** Returns the export jobs of a worker. One export runs at a time across all workers of the database. */
export function createExportJobs(app: App): ExportTasks {
  const { config, database, databaseUrl, environment, log } = app;
  const { sql } = database;
  const recorder = config.name;
  return {
    due: () => dueExports(sql, recorder),
    run: async (to, signal) => {
      const exportConfig = config.exports.find((one) => one.to === to);
      if (!exportConfig) return;
      await withRowLock(databaseUrl, LOCKS.export, async () => {
        if (!(await storeExportStart(sql, recorder, to))) return;
        const { datasets, format } = exportConfig;
        const reply = await selectReadSource(app).then(
          ({ url }) =>
            runExporterProcess(
              { databaseUrl: url, to, s3: environment.s3, format, ...(datasets && { datasets }) },
              signal,
            ),
          (error: unknown) => ({ failed: toErrorMessage(error) }),
        );
        if ('result' in reply) {
          await storeExportSuccess(sql, recorder, to, reply.result);
          const { damaged, lost } = reply.result;
          log.info({ to, ...reply.result }, 'an export was completed');
          if (damaged > 0)
            log.warn(
              { to, damaged, lost },
              lost > 0
                ? 'files of an earlier export were missing or damaged, and hold rows that the database has removed'
                : 'files of an earlier export were missing or damaged, and were written again',
            );
        } else if (signal.aborted) log.info({ to }, 'an export was stopped: it will be repeated');
        else {
          // Errors of servers and drivers may contain the credentials of the request.
          const cause = createRedactor(readSecrets())(reply.failed);
          await storeExportFailure(sql, recorder, to, cause);
          log.warn({ to, cause }, 'an export failed: the previous export stays valid');
        }
      });
    },
  };
}

/** Checks whether each target of `exports` is writable. */
export async function checkExportTargets(
  { exports: exportConfigs }: Pick<Config, 'exports'>,
  { s3 }: Pick<Environment, 's3'>,
): Promise<CheckResult[]> {
  return Promise.all(
    exportConfigs.map(async ({ to }): Promise<CheckResult> => {
      const check = 'export';
      try {
        const target = await openTarget(to, s3, 'exports:');
        try {
          return { check, ok: true, found: `${to}: ${await checkTarget(target)}` };
        } finally {
          await target.close();
        }
      } catch (error) {
        // A usage error already contains the fix.
        if (error instanceof UsageError) return { check, ok: false, found: error.message };
        const fix = to.startsWith('s3:')
          ? 'correct exports[].to, AWS_ENDPOINT_URL, AWS_REGION or the keys (required permissions: docs/how-to/export.md)'
          : `give this user write access to ${isAbsolute(to) ? to : `${to} (relative to the directory in which the recorder was started)`}, or name another folder in exports[].to`;
        return { check, ok: false, found: `${to}: ${toErrorMessage(error)}`, fix: fix };
      }
    }),
  );
}
