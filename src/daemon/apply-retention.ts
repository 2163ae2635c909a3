import type { App } from '../app/app.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { LOCKS, withRowLock } from '../db/row-lock.ts';
import { formatDuration } from '../lib/duration.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { formatTime } from '../lib/output-stream.ts';
import { printJson, printTable } from '../lib/print.ts';
import { planRetention, retain } from '../retention/retention.ts';
import type { Log } from '../telemetry/log.ts';

/** Part of an application that {@link applyRetention} needs. */
interface RetentionContext extends Pick<App, 'databaseUrl' | 'clock'> {
  readonly database: Pick<App['database'], 'sql'>;
  readonly config: Pick<App['config'], 'retention'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * Removes expired rows unless another process is removing them, and logs the result. A failure of one dataset
 * does not affect the other datasets.
 */
export async function applyRetention(
  { databaseUrl, database, config, clock, log }: RetentionContext,
  signal: AbortSignal,
): Promise<void> {
  const retentions = Object.entries(config.retention);
  if (retentions.length === 0) return;
  await withRowLock(databaseUrl, LOCKS.retain, async () => {
    for (const [dataset, keep] of retentions) {
      try {
        for (const one of await retain(database.sql, { [dataset]: keep }, clock(), signal))
          log.info(
            { dataset, removed: one.removed, kept_since: one.keptSince.toISOString() },
            'old data was removed according to the retention',
          );
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        log.warn(
          { dataset, cause: toErrorMessage(error) },
          'old data could not be removed: the removal is retried within an hour',
        );
      }
    }
  });
}

/**
 * Command `retention`: prints the rows that would be removed now and the rows removed so far. Removes
 * nothing.
 */
export async function retentionCommand(app: App, options: { json: boolean }): Promise<void> {
  const plans = await planRetention(app.database.reader, app.config.retention, app.clock());
  if (options.json) {
    printJson(
      plans.map(({ dataset, keep, keptSince, next, going, removed }) => ({
        dataset,
        keep: keep === null ? null : formatDuration(keep),
        kept_since: keptSince,
        next_kept_since: next,
        going,
        removed,
      })),
    );
    return;
  }
  printTable(
    plans.map(({ dataset, keep, keptSince, next, going, removed }) => ({
      dataset,
      keep: keep === null ? 'forever, from now on' : formatDuration(keep),
      'kept since': keptSince ? formatTime(keptSince) : 'its first row',
      'next start': next ? formatTime(next) : null,
      'rows to remove': going,
      'removed rows': removed,
    })),
    'everything is kept forever: the configuration has no retention',
  );
}
