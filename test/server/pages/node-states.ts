import type postgres from 'postgres';
import { acquireObserver, writeLedger } from '../../../src/health/ledger.ts';
import type { NodeState } from '../../../src/health/state.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** States of a node by an observer: each from a moment on, ms since 1970, and the unobserved times. */
export interface Observation {
  readonly observer: string;
  readonly node: string;
  readonly states: readonly (readonly [at: number, state: NodeState])[];
  readonly absences: readonly (readonly [from: number, to: number])[];
  /** A check that fails while the node is down, and its message. */
  readonly check?: { readonly name: string; readonly error: string };
}

/** Writes the states to the ledger, settled up to a moment, by an observer that is still active. */
export async function write(
  sql: postgres.Sql,
  observations: readonly Observation[],
  settled: number,
): Promise<void> {
  for (const observer of new Set(observations.map((one) => one.observer))) {
    const mine = observations.filter((one) => one.observer === observer);
    await acquireObserver(sql, observer, observer);
    await writeLedger(sql, observer, observer, {
      heartbeat: settled,
      absences: (mine[0]?.absences ?? []).map(([from, to]) => ({ from, to, reason: 'the recorder was off' })),
      transitions: mine.flatMap(({ node, states, check }) =>
        states.flatMap(([at, state]) =>
          ['*', ...(check ? [check.name] : [])].map((name) => ({
            node,
            probe: 'health',
            check: name,
            at,
            state: name === '*' || state === 'down' ? state : 'up',
            error: state === 'down' ? (check?.error ?? 'it is <b>ill</b>') : null,
            message: null,
            reported: true,
            before: 0,
            failingSince: null,
            ended: null,
          })),
        ),
      ),
      probes: mine.map(({ node }) => ({
        node,
        probe: 'health',
        probes: 1000,
        probedAt: settled,
        suspect: null,
        latest: null,
        hour: null,
        entries: null,
      })),
    });
  }
  await sql`update recorder.health_observers set lease_until = now() + interval '1 day'`;
}

/** The common state of a node by several observers at a moment, by a plain computation; `none`: not observed yet. */
export function stateAt(observations: readonly Observation[], node: string, at: number): NodeState | 'none' {
  const mine = observations.filter((one) => one.node === node);
  if (mine.every(({ states }) => (states[0]?.[0] ?? Number.POSITIVE_INFINITY) > at)) return 'none';
  const currentStates = mine.map(({ states, absences }) => {
    const [, state] = states.findLast(([from]) => from <= at) ?? [0, 'unknown' as const];
    const absent = absences.some(([from, to]) => from <= at && at < to);
    return absent && state !== 'maintenance' ? 'unknown' : state;
  });
  const count = (state: NodeState) => currentStates.filter((one) => one === state).length;
  if (count('maintenance') > count('up') + count('down')) return 'maintenance';
  if (count('up') + count('down') === 0) return 'unknown';
  return count('down') > count('up') ? 'down' : 'up';
}

/** The seconds of a window in each state, minute by minute. */
export function secondsIn(observations: readonly Observation[], node: string, from: number, to: number) {
  const seconds = { up: 0, down: 0, maintenance: 0, unknown: 0, none: 0 };
  for (let at = from; at < to; at += minute) seconds[stateAt(observations, node, at)] += 60;
  return seconds;
}
