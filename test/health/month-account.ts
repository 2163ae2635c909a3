import type { Played } from './month-play.ts';
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
  readonly dark: Uint8Array;
}

/** Computes a node's seconds from its probes, absences, clocks and announced windows alone. */
export function accountOf(played: Played, script: MonthScript, node: NodeName): Account {
  const { world, absences, shifts } = played;
  const end = world.now;
  const looks = played.looks.filter((look) => look.node === node);
  const said = confirmed(looks);
  // A failure that waited for its second probe when the recorder ended is unknown.
  const dark = absences.map(({ from, to }) => {
    const suspects = NODES.flatMap((one) => {
      const [before, last] = played.looks.filter((look) => look.node === one && look.at <= from).slice(-2);
      const waits = last?.state === 'down' && before?.state !== 'down' && from - last.at < 5 * second;
      return waits ? [last.at] : [];
    });
    return { from: Math.min(from, ...suspects), to };
  });
  const isAnnounced = (moment: number) =>
    script.windows.some(
      ({ nodes, from, to }) => (nodes === null || nodes.includes(node)) && from <= moment && moment < to,
    );
  const size = (end - MONTH_START + 4 * hour) / second;
  const [states, lastKnown, absent] = [new Uint8Array(size), new Uint8Array(size), new Uint8Array(size)];
  let written = 0;
  const write = (state: string, isDark: boolean) => {
    const announced = isAnnounced(MONTH_START + written * second);
    const index = STATES.indexOf(state);
    states[written] = announced ? MAINTENANCE : isDark ? 0 : index;
    lastKnown[written] = announced ? MAINTENANCE : index;
    absent[written++] = isDark ? 1 : 0;
  };
  let [look, shift, absence] = [-1, -1, 0];
  for (let now = MONTH_START; now < end; now += second) {
    const before = said[look] ?? 'unknown';
    while ((looks[look + 1]?.at ?? end) <= now) look += 1;
    while ((shifts[shift + 1]?.from ?? end) <= now) shift += 1;
    while ((dark[absence]?.to ?? end) <= now) absence += 1;
    const label = (now + (shifts[shift]?.shift ?? 0) - MONTH_START) / second;
    while (written < label) write(before, true); // the clock was set forward
    // The clock was set back: later times are removed once the ledger is taken over.
    if (world.restarts.includes(now)) written = Math.min(written, label);
    if (written > label) continue;
    write(said[look] ?? 'unknown', (dark[absence]?.from ?? end) <= now);
  }
  return {
    states: states.subarray(0, written),
    lastKnown: lastKnown.subarray(0, written),
    dark: absent.subarray(0, written),
  };
}

/** The states of probes: a failure counts if the node was down before it, or the next probe agrees. */
function confirmed(looks: Played['looks']): string[] {
  const said: string[] = looks.map(({ state }) => state);
  looks.forEach((look, n) => {
    if (look.state !== 'down' || said[n - 1] === 'down') return;
    const next = looks
      .slice(n + 1, n + 4)
      .find(({ at, state }) => state !== 'down' || at - look.at >= 2 * second);
    if (next?.state !== 'down') said[n] = next?.state === 'unknown' ? 'unknown' : (said[n - 1] ?? 'unknown');
  });
  return said;
}
