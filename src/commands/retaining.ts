import type { App } from '../app.ts';
import { LOCKS, withAdvisoryLock } from '../db/advisory-lock.ts';
import { durationText } from '../duration.ts';
import { planRetention, retain } from '../recording/retention.ts';
import { timeText } from './out.ts';
import { printJson, printTable } from './output.ts';

/** Removes what is not to be kept any more, unless another process does it, and logs what went. */
export async function retainInTurn(
  { databaseUrl, database, config, clock, log }: App,
  signal: AbortSignal,
): Promise<void> {
  if (Object.keys(config.retention).length === 0) return;
  await withAdvisoryLock(databaseUrl, LOCKS.retain, async () => {
    for (const one of await retain(database.sql, config.retention, clock(), signal))
      log.info(
        { dataset: one.dataset, removed: one.removed, kept_since: one.keptSince.toISOString() },
        'what was over before was removed: it is kept since then',
      );
  });
}

/** `retention`: what would go now, and what went. Nothing is removed by it. */
export async function retentionCommand(app: App, options: { json: boolean }): Promise<void> {
  const plans = await planRetention(app.database.reader, app.config.retention, app.clock());
  if (options.json) {
    printJson(
      plans.map(({ dataset, keep, keptSince, next, going, removed }) => ({
        dataset,
        keep: keep === null ? null : durationText(keep),
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
      keep: keep === null ? 'for ever, from now on' : durationText(keep),
      'kept since': keptSince ? timeText(keptSince) : 'its beginning',
      'then since': next ? timeText(next) : null,
      'rows that go': going,
      'rows that went': removed,
    })),
    'everything is kept for ever: the configuration has no retention',
  );
}
