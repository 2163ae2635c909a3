import { cutLedger, type TakenObserver, takeObserver } from './ledger.ts';
import { LedgerClock } from './ledger-clock.ts';
import type { ProberContext } from './prober-context.ts';
import { type ResumedLedger, resumeLedger } from './resume-ledger.ts';

/** The ledger of an observer as a process takes it over. */
export interface TakenLedger {
  readonly clock: LedgerClock;
  readonly taken: TakenObserver;
  readonly ledger: ResumedLedger;
  /** The wall time up to which it is settled. */
  readonly settled: number;
}

/** Takes the ledger of an observer over. @returns null if another process has it */
export async function takeLedger(context: ProberContext): Promise<TakenLedger | null> {
  const { sql, observer, holder } = context;
  let taken = await takeObserver(sql, observer, holder);
  if (taken === 'held') return null;
  await context.synchronise?.();
  const ahead = (taken.heartbeat ?? 0) - context.wall();
  if (ahead > 0) {
    await cutLedger(sql, observer, holder, context.wall());
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
