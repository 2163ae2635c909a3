import type { App } from '../app/app.ts';
import { openSealConnection } from '../db/client.ts';
import { LOCKS } from '../db/row-lock.ts';
import { closeDays } from '../recording/close-days.ts';
import { storeContradictions } from '../recording/note-contradictions.ts';
import { withExclusiveLock } from './with-exclusive-lock.ts';

/** Timeout of the statement that packs one day, in ms. */
const PACK_TIMEOUT_MS = 10 * 60_000;

/**
 * Packs the readings of past days and stores contradictions between rows, unless another process is doing so.
 * A day that fails is logged and retried in the next round.
 */
export async function closePastDays({ databaseUrl, clock, log }: App, signal: AbortSignal): Promise<void> {
  const sql = openSealConnection(databaseUrl, PACK_TIMEOUT_MS);
  await withExclusiveLock(databaseUrl, LOCKS.close, sql, signal, async () => {
    const { failed, ...closed } = await closeDays(sql, clock(), signal);
    for (const one of failed) log.warn(one, 'a day of readings cannot be packed: it stays as it is');
    if (closed.packed + closed.kept > 0) log.debug(closed, 'days of readings were closed');
    // Last, so that a failure does not affect the closing of days.
    await storeContradictions(sql, clock(), signal);
  });
}
