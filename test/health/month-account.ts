import type { PlayedMonth } from './month-play.ts';
import { MONTH_START, type MonthScript, NODES, type NodeName } from './month-script.ts';
import { hour, second } from './world.ts';

export const STATES: readonly string[] = ['unknown', 'up', 'down', 'maintenance'];
const MAINTENANCE = STATES.indexOf('maintenance');

/** The expected state of each second of the ledger, by the database's clock. Numbers are indexes of {@link STATES}. */
export interface Account {
  readonly states: Uint8Array;
  /** The same without absences: as the last probe left it. */
  readonly lastKnown: Uint8Array;
  /** 1: no process probed. */
  readonly unobserved: Uint8Array;
}

/** Computes a node's seconds from its probes, absences, clocks and announced windows alone. */
export function computeAccount(month: PlayedMonth, script: MonthScript, node: NodeName): Account {
  const { world, absences, shifts } = month;
  const end = world.now;
  const observations = month.observations.filter((observation) => observation.node === node);
  const confirmedStates = confirmFailures(observations);
  // A failure that waited for its second probe when the recorder ended is unknown.
  const unobservedTimes = absences.map(({ from, to }) => {
    const suspects = NODES.flatMap((one) => {
      const [before, last] = month.observations
        .filter((observation) => observation.node === one && observation.at <= from)
        .slice(-2);
      const isPending = last?.state === 'down' && before?.state !== 'down' && from - last.at < 5 * second;
      return isPending ? [last.at] : [];
    });
    return { from: Math.min(from, ...suspects), to };
  });
  const isAnnounced = (moment: number) =>
    script.windows.some(
      ({ nodes, from, to }) => (nodes === null || nodes.includes(node)) && from <= moment && moment < to,
    );
  const size = (end - MONTH_START + 4 * hour) / second;
  const [states, lastKnown, unobserved] = [new Uint8Array(size), new Uint8Array(size), new Uint8Array(size)];
  let written = 0;
  const write = (state: string, isUnobserved: boolean) => {
    const announced = isAnnounced(MONTH_START + written * second);
    const index = STATES.indexOf(state);
    states[written] = announced ? MAINTENANCE : isUnobserved ? 0 : index;
    lastKnown[written] = announced ? MAINTENANCE : index;
    unobserved[written++] = isUnobserved ? 1 : 0;
  };
  let [observationIndex, shiftIndex, absenceIndex] = [-1, -1, 0];
  for (let now = MONTH_START; now < end; now += second) {
    const before = confirmedStates[observationIndex] ?? 'unknown';
    while ((observations[observationIndex + 1]?.at ?? end) <= now) observationIndex += 1;
    while ((shifts[shiftIndex + 1]?.from ?? end) <= now) shiftIndex += 1;
    while ((unobservedTimes[absenceIndex]?.to ?? end) <= now) absenceIndex += 1;
    const label = (now + (shifts[shiftIndex]?.shift ?? 0) - MONTH_START) / second;
    while (written < label) write(before, true); // the clock was set forward
    // The clock was set back: later times are removed once the ledger is taken over.
    if (world.restarts.includes(now)) written = Math.min(written, label);
    if (written > label) continue;
    write(
      confirmedStates[observationIndex] ?? 'unknown',
      (unobservedTimes[absenceIndex]?.from ?? end) <= now,
    );
  }
  return {
    states: states.subarray(0, written),
    lastKnown: lastKnown.subarray(0, written),
    unobserved: unobserved.subarray(0, written),
  };
}

/** The states of probes: a failure counts if the node was down before it, or the next probe agrees. */
function confirmFailures(observations: PlayedMonth['observations']): string[] {
  const states: string[] = observations.map(({ state }) => state);
  observations.forEach((observation, n) => {
    if (observation.state !== 'down' || states[n - 1] === 'down') return;
    const next = observations
      .slice(n + 1, n + 4)
      .find(({ at, state }) => state !== 'down' || at - observation.at >= 2 * second);
    if (next?.state !== 'down')
      states[n] = next?.state === 'unknown' ? 'unknown' : (states[n - 1] ?? 'unknown');
  });
  return states;
}
