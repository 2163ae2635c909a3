import { createRandom } from '../support/random.ts';
import { day, hour, minute, second } from './world.ts';

export const MONTH_START = Date.UTC(2026, 2, 1);
export const NODES = ['a', 'b', 'c'] as const;
export type NodeName = (typeof NODES)[number];

/** One event of the recorder or its machine. Times are ms since 1970. */
export type RecorderEvent =
  | { readonly at: number; readonly action: 'kill' | 'start' | 'cut off' | 'reconnect' }
  /** The machine sleeps; `inFlight`: during a probe, whose response arrives afterwards. */
  | { readonly at: number; readonly action: 'sleep'; readonly by: number; readonly inFlight?: true }
  /** The clock of the database is set; `stays`: the change is not reverted. */
  | { readonly at: number; readonly action: 'move'; readonly by: number; readonly isPermanent?: true };

/** A node has a behaviour from one time to another. `cause` is an index of the causes. */
interface Behaviour {
  readonly from: number;
  readonly to: number;
  readonly cause: number;
}

/** A month of three nodes, whose days are scaled by a part. */
export interface MonthScript {
  readonly end: number;
  readonly events: readonly RecorderEvent[];
  readonly windows: readonly {
    readonly nodes: NodeName[] | null;
    readonly from: number;
    readonly to: number;
  }[];
  /** When another node responds at the URL of c. */
  readonly swaps: readonly { readonly from: number; readonly to: number }[];
  /** The cause at a moment; null: the node is healthy. */
  causeAt(node: NodeName, at: number): number | null;
  random(): number;
}

/** The minimum length of a trouble in which every probe is followed by another one. */
const MIN_BEHAVIOUR_MS = 130 * second;
const SWAP_DURATION_MS = 6 * minute;

/**
 * Writes the script. @param part of each day that is played @param causes number of causes: each node has each of them
 * once
 */
export function createMonthScript(part: number, causes: number): MonthScript {
  const random = createRandom(20_260_301);
  const length = 31 * day * part;
  const roundToSeconds = (milliseconds: number) => Math.round(milliseconds / second) * second;
  const at = (date: number, hours: number, minutes = 0) =>
    MONTH_START + roundToSeconds(((date - 1) * day + hours * hour + minutes * minute) * part);
  const clockChange = roundToSeconds(2 * hour * part);
  const events: readonly RecorderEvent[] = [
    { at: at(3, 10), action: 'kill' },
    { at: at(3, 15), action: 'start' },
    { at: at(5, 1, 7), action: 'sleep', by: 10 * minute },
    { at: at(6, 20), action: 'sleep', by: roundToSeconds(8 * hour * part), inFlight: true },
    { at: at(8, 4), action: 'cut off' },
    { at: at(8, 6, 30), action: 'reconnect' },
    { at: at(10, 12), action: 'move', by: clockChange },
    { at: at(10, 12) + 40 * second, action: 'move', by: -clockChange },
    { at: at(12, 12), action: 'move', by: -clockChange },
    { at: at(12, 12) + 40 * second, action: 'move', by: clockChange },
    { at: at(14, 9), action: 'move', by: clockChange, isPermanent: true },
    { at: at(14, 15), action: 'move', by: -clockChange, isPermanent: true },
    { at: at(17, 9), action: 'move', by: -clockChange, isPermanent: true },
    { at: at(17, 16), action: 'move', by: clockChange, isPermanent: true },
    { at: at(20, 0), action: 'kill' },
    { at: at(20, 0) + minute, action: 'start' },
    { at: at(20, 0) + 2 * minute, action: 'kill' },
    { at: at(20, 0) + 3 * minute, action: 'start' },
    { at: at(22, 12), action: 'sleep', by: 4 * minute, inFlight: true },
    { at: at(23, 23), action: 'sleep', by: 3 * second },
    { at: at(26, 5), action: 'kill' },
    { at: at(27, 9), action: 'start' },
  ];
  const windows: MonthScript['windows'] = [
    { nodes: ['a'], from: at(4, 2), to: at(4, 5) },
    { nodes: ['b'], from: at(3, 12), to: at(3, 16) },
    { nodes: null, from: at(21, 1), to: at(21, 2) },
  ];
  const swaps = [at(2, 12), at(11, 0), at(25, 0)].map((from) => ({ from, to: from + SWAP_DURATION_MS }));
  const behaviours = new Map(NODES.map((node) => [node, createBehaviours(random, length, causes)]));
  const causeAt = (node: NodeName, moment: number) =>
    behaviours.get(node)?.findLast(({ from, to }) => from <= moment && moment < to)?.cause ?? null;
  return { end: MONTH_START + length, events, windows, swaps, causeAt, random };
}

/** Each cause once, in any order, and between them some that are so short that no second probe finds them. */
function createBehaviours(random: () => number, length: number, causes: number): Behaviour[] {
  const slot = length / causes;
  const order = Array.from({ length: causes }, (_, cause) => ({ cause, key: random() })).sort(
    (one, other) => one.key - other.key,
  );
  return order.flatMap(({ cause }, at) => {
    const from = MONTH_START + Math.ceil((at + 0.2 * random()) * (slot / second)) * second;
    const to = from + MIN_BEHAVIOUR_MS + Math.floor((random() ** 4 * 0.5 * slot) / second) * second;
    const blipStart = MONTH_START + Math.floor((at + 0.9 + 0.05 * random()) * (slot / second)) * second;
    const blip = { from: blipStart, to: blipStart + Math.ceil(random() * 20) * second };
    return [
      { from, to, cause },
      { ...blip, cause: Math.floor(random() * causes) },
    ];
  });
}
