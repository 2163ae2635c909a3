const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1_000,
  2_000,
  5_000,
  15_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  14 * DAY,
] as const;
const MAX_TICKS = 8;
const TICKS = 5;

/** Returns at least two round, evenly spaced, ascending ticks that enclose both values. */
export function amountTicks(least: number, most: number): number[] {
  // The axis of a single value ends at the value, because ticks beyond the value might be impossible, such as
  // more than 100 %.
  if (least === most) return amountTicks(Math.min(least, 0), most === 0 ? 1 : Math.max(most, 0));
  // The axis starts at zero only if the range is large compared to the values; otherwise the line would be
  // flat.
  const low = least > 0 && least < most / 2 ? 0 : least;
  const rough = (most - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5].find((one) => one * power >= rough) ?? 10);
  const [first, last] = [Math.floor(low / step), Math.ceil(most / step)];
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

/** A labelled moment of a time axis. */
interface TimeTick {
  /** Ms since 1970. */
  readonly at: number;
  readonly text: string;
}

/**
 * Returns at least two moments of a window, if possible round ones, with their labels in UTC. Returns only
 * the start if the window is empty.
 */
export function timeTicks(from: number, to: number): TimeTick[] {
  if (!(to > from)) return Number.isFinite(from) ? [{ at: from, text: textOf(from, DAY) }] : [];
  const ticks = roundTicks(from, to);
  return ticks.length >= 2 ? ticks : [from, to].map((at) => ({ at, text: textOf(at, 1_000) }));
}

function roundTicks(from: number, to: number): TimeTick[] {
  const step = STEPS.find((one) => (to - from) / one <= MAX_TICKS);
  if (step === undefined) return monthTicks(from, to);
  const first = Math.ceil(from / step) * step;
  const count = Math.floor((to - first) / step) + 1;
  return Array.from({ length: count }, (_, at) => first + at * step).map((at) => ({
    at,
    text: textOf(at, step),
  }));
}

function monthTicks(from: number, to: number) {
  const months = (to - from) / (30.4 * DAY);
  const step = [1, 2, 3, 6, 12, 24, 60, 120, 600].find((one) => months / one <= MAX_TICKS) ?? 1_200;
  const begin = new Date(from);
  const first = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth() + 0.001) / step) * step;
  const ticks: { at: number; text: string }[] = [];
  for (let month = first; ticks.length <= MAX_TICKS; month += step) {
    const at = Date.UTC(Math.floor(month / 12), month % 12);
    if (at > to) break;
    ticks.push({ at, text: new Date(at).toISOString().slice(0, step >= 12 ? 4 : 7) });
  }
  return ticks;
}

function textOf(at: number, step: number): string {
  const text = new Date(at).toISOString();
  if (at % DAY === 0) return text.slice(5, 10);
  return step < MINUTE ? text.slice(11, 19) : text.slice(11, 16);
}

const LARGE = [
  [1e24, ' Y'],
  [1e21, ' Z'],
  [1e18, ' E'],
  [1e15, ' P'],
  [1e12, ' T'],
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
] as const;

/** Formats a number in few characters for an axis: 1250000 → `1.25 M`. Not exact. */
export function shortAmount(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e27 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  const [unit, letter] = size < 10_000 ? [1, ''] : (LARGE.find(([one]) => size >= one) ?? [1, '']);
  return `${Number((value / unit).toPrecision(4))}${letter.replace(' ', '\u202f')}`;
}

/** Returns the minimum and the maximum. */
export function spanOf(all: readonly number[]): [least: number, most: number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const one of all) {
    least = Math.min(least, one);
    most = Math.max(most, one);
  }
  return [least, most];
}
