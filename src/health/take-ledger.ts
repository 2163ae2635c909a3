import { type AcquiredObserver, acquireObserver, truncateLedger } from './ledger.ts';
import { LedgerClock } from './ledger-clock.ts';
import type { ProberContext } from './prober-context.ts';
import { type ResumedLedger, resumeLedger } from './resume-ledger.ts';

/** An acquired ledger of an observer. */
export interface AcquiredLedger {
  readonly clock: LedgerClock;
  readonly taken: AcquiredObserver;
  readonly ledger: ResumedLedger;
  /** Wall time up to which it is final. */
  readonly settled: number;
}

/**
 * Acquires the ledger of an observer.
 * @returns null if another process holds it
 */
export async function acquireLedger(context: ProberContext): Promise<AcquiredLedger | null> {
  const { sql, observer, holder } = context;
  let taken = await acquireObserver(sql, observer, holder);
  if (taken === 'held') return null;
  await context.synchronise?.();
  const ahead = (taken.heartbeat ?? 0) - context.wall();
  if (ahead > 0) {
    await truncateLedger(sql, observer, holder, context.wall());
    taken = { ...taken, heartbeat: context.wall(), refused: [] };
    context.log.warn(
      { milliseconds: ahead },
      'the clock of the database was set back: the ledger after its time was removed',
    );
  }
  const clock = new LedgerClock(context.wall, context.steady, taken.heartbeat ?? 0);
  const settled = taken.heartbeat ?? clock.toWall(clock.now());
  const ledger = await resumeLedger(sql, observer, settled, taken.refused, clock);
  return { clock, taken, ledger, settled };
}
