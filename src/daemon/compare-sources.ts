import type { App } from '../app/app.ts';
import { openComparisonConnection } from '../db/client.ts';
import { LOCKS } from '../db/row-lock.ts';
import { compareSources } from '../reporting/checks/compare.ts';
import { withExclusiveLock } from './with-exclusive-lock.ts';

/**
 * Compares the sources. Does nothing if another process is comparing, or if the last comparison started less
 * than half of `every` ago. New discrepancies are logged as a warning.
 * @param every interval of the comparisons, in ms
 */
export async function compareSourcesExclusively(app: App, every: number, signal: AbortSignal): Promise<void> {
  const { databaseUrl, clock, log } = app;
  const sql = openComparisonConnection(databaseUrl);
  await withExclusiveLock(databaseUrl, LOCKS.compare, sql, signal, async () => {
    const now = clock();
    const [last] = await sql<{ at: Date | null }[]>`select max(checked_at) as at from recorder.check_runs`;
    if (last?.at && Math.abs(now - last.at.getTime()) < every / 2) return;
    const { discovered, failed, ...counts } = await compareSources(sql, now, signal);
    for (const one of failed) log.warn(one, 'what sources say cannot be compared');
    const said = { ...counts, discovered };
    if (discovered > 0) log.warn(said, 'sources contradict each other: chain-recorder report discrepancies');
    else log.debug(said, 'the sources were compared');
  });
}
