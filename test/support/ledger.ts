import type postgres from 'postgres';
import {
  acquireObserver,
  type LedgerTransition,
  type ObserverAbsence,
  type ProbeProgress,
  writeLedger,
} from '../../src/health/ledger.ts';
import type { NodeState } from '../../src/health/state.ts';

/** A transition of the health of a node at a moment, in ms since 1970. */
export const transitionOf = (
  node: string,
  at: number,
  state: NodeState,
  more: Partial<LedgerTransition> = {},
): LedgerTransition => ({
  ...{ node, probe: 'health', check: '*', at, state, error: null, message: null, reported: true },
  ...{ before: 0, failingSince: null, ended: null },
  ...more,
});

/** Writes the transitions of one node to the ledger of an observer, settled up to a moment. */
export async function recordTransitions(
  sql: postgres.Sql,
  observer: string,
  until: number,
  transitions: readonly LedgerTransition[],
  {
    absences = [],
    probe = {},
  }: { absences?: readonly ObserverAbsence[]; probe?: Partial<ProbeProgress> } = {},
): Promise<void> {
  const { node, probe: name } = transitions[0] ?? { node: 'a', probe: 'health' };
  const progress = { node, probe: name, probes: 9, probedAt: until, suspect: null };
  await acquireObserver(sql, observer, observer);
  await writeLedger(sql, observer, observer, {
    heartbeat: until,
    absences,
    transitions,
    probes: [{ ...progress, latest: null, hour: null, entries: null, ...probe }],
  });
}

/** An unobserved time. */
export const absence = (from: number, to: number): ObserverAbsence => ({
  ...{ from, to, reason: 'the recorder was off' },
});
