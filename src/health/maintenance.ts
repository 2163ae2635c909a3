import type { Saying } from './state.ts';

/** Announced time in which nodes may be down. Wall times, ms since 1970, half-open. */
export interface MaintenanceWindow {
  /** Null: every node. */
  readonly nodes: readonly string[] | null;
  readonly from: number;
  readonly to: number;
}

/** A window that comes again, in UTC. */
export interface RecurringMaintenance {
  readonly nodes: readonly string[] | null;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Milliseconds after midnight. */
  readonly at: number;
  /** Milliseconds. */
  readonly lasts: number;
}

const DAY = 86_400_000;

/** The windows of a recurring maintenance that touch [from, to]. */
export function occurrences(
  { nodes, days, at, lasts }: RecurringMaintenance,
  from: number,
  to: number,
): MaintenanceWindow[] {
  const windows: MaintenanceWindow[] = [];
  for (let day = Math.floor((from - lasts) / DAY) * DAY; day <= to; day += DAY) {
    const begin = day + at;
    if (days.has(new Date(day).getUTCDay()) && begin <= to && begin + lasts >= from)
      windows.push({ nodes, from: begin, to: begin + lasts });
  }
  return windows;
}

/** What is said from a moment on. */
export interface Said<T extends Saying> {
  readonly at: number;
  readonly saying: T;
}

/** What counts of anything that is said in an announced window. */
export const UNDER_MAINTENANCE = { state: 'maintenance', error: null, message: null } as const;

/**
 * What counts of what was said, with announced windows laid over it.
 * @param said what was said at `from`; null: nothing yet
 * @param counted what counted until `from`: a window announced or taken back meanwhile changes that
 * @param turns what was said from then on, oldest first
 * @returns the moments in [from, to] at which something else counts
 */
export function underMaintenance<T extends Saying>(
  said: T | null,
  counted: T | null,
  turns: readonly Said<T>[],
  windows: readonly MaintenanceWindow[],
  from: number,
  to: number,
): Said<T>[] {
  const edges = windows.flatMap((window) => [window.from, window.to]).filter((at) => at > from && at <= to);
  const moments = [...new Set([from, ...turns.map(({ at }) => at), ...edges])].sort((a, b) => a - b);
  const result: Said<T>[] = [];
  let now = said;
  let last = counted;
  for (const at of moments) {
    now = turns.findLast((turn) => turn.at === at)?.saying ?? now;
    const announced = windows.some((window) => window.from <= at && at < window.to);
    const saying = now && announced ? { ...now, ...UNDER_MAINTENANCE } : now;
    if (!saying || (last && sameText(saying, last))) continue;
    result.push({ at, saying });
    last = saying;
  }
  return result;
}

function sameText<T extends Saying>(one: T, other: T): boolean {
  return one.state === other.state && one.error === other.error && one.message === other.message;
}
