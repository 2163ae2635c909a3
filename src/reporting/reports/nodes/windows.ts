/** A time range in ms since 1970: inclusive start, exclusive end. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The combined state of a node over all observers. Time outside of all spans is unknown. */
export interface StateSpan extends Span {
  readonly state: 'up' | 'down' | 'maintenance';
}

/** The states within a window, in seconds that add up to its length. */
export interface WindowStates extends Span {
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
  /** Seconds in which no observer could determine the state. */
  readonly unknown: number;
  /** Seconds before the first probe, for which there is no record. */
  readonly unrecorded: number;
}

/** Shares from 0 to 1 of the recorded time. Null: the node was observed neither as up nor as down. */
export interface UptimeBounds {
  /** up / (up + down). */
  readonly uptime: number | null;
  /** Lower bound: unknown time counts as down. */
  readonly least: number | null;
  /** Upper bound: unknown time counts as up. */
  readonly most: number | null;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The length of windows, in ms. Months have no fixed length; 30 days are an approximation. */
const LENGTHS = {
  '1min': MINUTE,
  '5min': 5 * MINUTE,
  '15min': 15 * MINUTE,
  '1h': HOUR,
  '6h': 6 * HOUR,
  '1d': DAY,
  '1w': 7 * DAY,
  '1mo': 30 * DAY,
} as const;

export type WindowGrain = keyof typeof LENGTHS;
export const grains: readonly WindowGrain[] = ['1min', '5min', '15min', '1h', '6h', '1d', '1w', '1mo'];
export const grainWords: Readonly<Record<WindowGrain, string>> = {
  '1min': '1 minute',
  '5min': '5 minutes',
  '15min': '15 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '1d': '1 day',
  '1w': '1 week',
  '1mo': '1 month',
};

/** Origin of windows shorter than a month: a Monday, as in `reporting_internal.window_begin`. */
const MONDAY = Date.UTC(2000, 0, 3);

/**
 * Returns the approximate number of windows of a range. The number is exact except for the ends of the range,
 * and for months.
 */
export const countOf = ({ from, to }: Span, grain: WindowGrain): number =>
  Math.ceil((to - from) / LENGTHS[grain]);

/** Returns the finest grain that splits a range into at most `most` windows. */
export const chooseWindowGrain = (range: Span, most: number): WindowGrain =>
  grains.find((grain) => countOf(range, grain) <= most) ?? '1mo';

/**
 * Returns the windows of a range, oldest first. Windows start at whole hours, days, Mondays or months (UTC).
 * The first and the last window are cut to the range.
 */
export function splitIntoWindows({ from, to }: Span, grain: WindowGrain): Span[] {
  const windows: Span[] = [];
  for (let at = startOf(from, grain); at < to; ) {
    const next = nextOf(at, grain);
    windows.push({ from: Math.max(at, from), to: Math.min(next, to) });
    at = next;
  }
  return windows;
}

function startOf(at: number, grain: WindowGrain): number {
  const date = new Date(at);
  if (grain === '1mo') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return MONDAY + Math.floor((at - MONDAY) / LENGTHS[grain]) * LENGTHS[grain];
}

function nextOf(start: number, grain: WindowGrain): number {
  const date = new Date(start);
  return grain === '1mo' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : start + LENGTHS[grain];
}

/**
 * Returns the states within each window.
 * @param spans disjoint, oldest first
 * @param windows disjoint, oldest first
 * @param firstProbeAt in ms since 1970; null if there was no probe
 */
export function statesIn(
  spans: readonly StateSpan[],
  windows: readonly Span[],
  firstProbeAt: number | null,
): WindowStates[] {
  let next = 0;
  return windows.map(({ from, to }) => {
    const known = { up: 0, down: 0, maintenance: 0 };
    while (next < spans.length && (spans[next]?.to ?? 0) <= from) next++;
    for (let at = next; at < spans.length; at++) {
      const span = spans[at];
      if (!span || span.from >= to) break;
      known[span.state] += (Math.min(span.to, to) - Math.max(span.from, from)) / 1000;
    }
    const recorded = (to - Math.min(Math.max(firstProbeAt ?? to, from), to)) / 1000;
    return {
      from,
      to,
      ...known,
      unknown: Math.max(0, thousandths(recorded - known.up - known.down - known.maintenance)),
      unrecorded: thousandths((to - from) / 1000 - recorded),
    };
  });
}

/** Rounds seconds to ms, the precision of the ledger, to remove binary rounding errors. */
export const thousandths = (seconds: number) => Math.round(seconds * 1000) / 1000;

/** Returns the uptime of the recorded part of a window, as in reports. */
export function uptimeIn({ up, down, unknown }: WindowStates): UptimeBounds {
  if (up + down === 0) return { uptime: null, least: null, most: null };
  const observed = up + down + unknown;
  return { uptime: up / (up + down), least: up / observed, most: (up + unknown) / observed };
}
