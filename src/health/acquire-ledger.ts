import { type AcquiredObserver, acquireObserver, truncateLedger } from './ledger.ts';
import { LedgerClock } from './ledger-clock.ts';
import type { ProberContext } from './prober-context.ts';
import { type ResumedLedger, resumeLedger } from './resume-ledger.ts';

/** An acquired ledger of an observer. */
export interface AcquiredLedger {
  readonly clock: LedgerClock;
  readonly acquired: AcquiredObserver;
  readonly ledger: ResumedLedger;
  /** Wall time up to which the ledger is final. */
  readonly settled: number;
}

/**
 * Acquires the ledger of an observer.
 * @returns null if another process holds it
 */
export async function acquireLedger(context: ProberContext): Promise<AcquiredLedger | null> {
  const { sql, observer, holder } = context;
  let acquired = await acquireObserver(sql, observer, holder);
  if (acquired === 'held') return null;
  await context.synchronise?.();
  const ahead = (acquired.heartbeat ?? 0) - context.wall();
  if (ahead > 0) {
    await truncateLedger(sql, observer, holder, context.wall());
    acquired = { ...acquired, heartbeat: context.wall(), refused: [] };
    context.log.warn(
      { milliseconds: ahead },
      'the clock of the database was set back: the ledger after its time was removed',
    );
  }
  const clock = new LedgerClock(context.wall, context.steady, acquired.heartbeat ?? 0);
  const settled = acquired.heartbeat ?? clock.toWall(clock.now());
  const ledger = await resumeLedger(sql, observer, settled, acquired.refused, clock);
  return { clock, acquired, ledger, settled };
}
