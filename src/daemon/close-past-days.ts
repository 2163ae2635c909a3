import type { App } from '../app/app.ts';
import { openSealing } from '../db/client.ts';
import { LOCKS } from '../db/row-lock.ts';
import { closeDays } from '../recording/close-days.ts';
import { noteContradictions } from '../recording/note-contradictions.ts';
import { inTurn } from './with-exclusive-lock.ts';

/** How long the statement that packs one day may take, ms. */
const LONGEST = 10 * 60_000;

/** Packs the readings of days that have ended, and notes which rows contradict each other, unless another process does. A day that fails is logged, and tried the next time. */
export async function closeInTurn({ databaseUrl, clock, log }: App, signal: AbortSignal): Promise<void> {
  const sql = openSealing(databaseUrl, LONGEST);
  await inTurn(databaseUrl, LOCKS.close, sql, signal, async () => {
    const { failed, ...closed } = await closeDays(sql, clock(), signal);
    for (const one of failed) log.warn(one, 'a day of readings cannot be packed: it stays as it is');
    if (closed.packed + closed.kept > 0) log.debug(closed, 'days of readings were closed');
    // Last: where it fails, the days are closed all the same.
    await noteContradictions(sql, clock(), signal);
  });
}
