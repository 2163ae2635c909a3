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

const UNDER_MAINTENANCE = { state: 'maintenance', error: null, message: null } as const;

/**
 * What counts of what was said, with announced windows laid over it.
 * @param before what was said at `from`; null: nothing yet
 * @param turns what was said after, oldest first
 * @returns the moments in [from, to] at which what counts changes, without `from` itself unless something turned there
 */
export function underMaintenance<T extends Saying>(
  before: T | null,
  turns: readonly Said<T>[],
  windows: readonly MaintenanceWindow[],
  from: number,
  to: number,
): Said<T>[] {
  const edges = windows.flatMap((window) => [window.from, window.to]).filter((at) => at > from && at <= to);
  const moments = [...new Set([...turns.map(({ at }) => at), ...edges])].sort((a, b) => a - b);
  const counting = (said: T | null, at: number): T | null =>
    said && windows.some((window) => window.from <= at && at < window.to)
      ? { ...said, ...UNDER_MAINTENANCE }
      : said;
  const result: Said<T>[] = [];
  let said = before;
  let last = counting(before, from);
  for (const at of moments) {
    said = turns.findLast((turn) => turn.at === at)?.saying ?? said;
    const saying = counting(said, at);
    if (!saying || (last && sameText(saying, last))) continue;
    result.push({ at, saying });
    last = saying;
  }
  return result;
}

/** A turn that only moves numbers in its message is one all the same: it was told apart where it was read. */
function sameText<T extends Saying>(one: T, other: T): boolean {
  return one.state === other.state && one.error === other.error && one.message === other.message;
}
