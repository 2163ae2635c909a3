import type { App } from '../app.ts';
import { LOCKS, withAdvisoryLock } from '../db/advisory-lock.ts';
import { openSealing } from '../db/client.ts';
import { closeDays } from '../recording/close-days.ts';

/** How long the statement that packs one day may take, ms. */
const LONGEST = 10 * 60_000;

/**
 * Packs the readings of days that have ended, unless another process does. A stop closes the connection, also within a
 * statement: a day is packed as a whole or not at all.
 */
export async function closeInTurn({ databaseUrl, clock, log }: App, signal: AbortSignal): Promise<void> {
  const sql = openSealing(databaseUrl, LONGEST);
  const stop = () => void sql.end({ timeout: 0 }).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    const closed = await withAdvisoryLock(databaseUrl, LOCKS.close, () => closeDays(sql, clock(), signal));
    if (closed && closed.packed + closed.kept > 0) log.debug(closed, 'days of readings were closed');
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await sql.end({ timeout: 1 }).catch(() => {});
  }
}
