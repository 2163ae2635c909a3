import type { ProbeVerdict } from './state.ts';

/**
 * Announced maintenance, in which nodes may be down. Wall times in ms since 1970, inclusive start, exclusive
 * end.
 */
export interface MaintenanceWindow {
  /** Null: every node. */
  readonly nodes: readonly string[] | null;
  readonly from: number;
  readonly to: number;
}

/** A window that repeats, in UTC. */
export interface RecurringMaintenance {
  readonly nodes: readonly string[] | null;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Start of the window after midnight, in ms. */
  readonly at: number;
  /** Duration, in ms. */
  readonly duration: number;
}

const DAY = 86_400_000;

/** Returns the windows of a recurring maintenance that overlap or touch the range from `from` to `to`. */
export function listOccurrences(
  { nodes, days, at, duration }: RecurringMaintenance,
  from: number,
  to: number,
): MaintenanceWindow[] {
  const windows: MaintenanceWindow[] = [];
  for (let day = Math.floor((from - duration) / DAY) * DAY; day <= to; day += DAY) {
    const start = day + at;
    if (days.has(new Date(day).getUTCDay()) && start <= to && start + duration >= from)
      windows.push({ nodes, from: start, to: start + duration });
  }
  return windows;
}

/** A verdict, and the moment from which it holds. */
export interface DatedVerdict<T extends ProbeVerdict> {
  readonly at: number;
  readonly verdict: T;
}

/** The verdict in an announced window, independently of observations. */
export const UNDER_MAINTENANCE = { state: 'maintenance', error: null, message: null } as const;

/**
 * Applies announced windows to verdicts.
 * @param current observed verdict at `from`; null: none yet
 * @param counted effective verdict until `from`; differs from `current` under maintenance
 * @param transitions later verdicts, oldest first
 * @returns the moments in [from, to] at which the effective verdict changes
 */
export function applyMaintenance<T extends ProbeVerdict>(
  current: T | null,
  counted: T | null,
  transitions: readonly DatedVerdict<T>[],
  windows: readonly MaintenanceWindow[],
  from: number,
  to: number,
): DatedVerdict<T>[] {
  const edges = windows.flatMap((window) => [window.from, window.to]).filter((at) => at > from && at <= to);
  const moments = [...new Set([from, ...transitions.map(({ at }) => at), ...edges])].sort((a, b) => a - b);
  const result: DatedVerdict<T>[] = [];
  let now = current;
  let last = counted;
  for (const at of moments) {
    now = transitions.findLast((transition) => transition.at === at)?.verdict ?? now;
    const announced = windows.some((window) => window.from <= at && at < window.to);
    const verdict = now && announced ? { ...now, ...UNDER_MAINTENANCE } : now;
    if (!verdict || (last && hasSameTexts(verdict, last))) continue;
    result.push({ at, verdict });
    last = verdict;
  }
  return result;
}

function hasSameTexts<T extends ProbeVerdict>(one: T, other: T): boolean {
  return one.state === other.state && one.error === other.error && one.message === other.message;
}
