import type { DeclaredColumn } from '../../../db/declared.ts';
import type { Line } from '../parts/line-chart.tsx';
import { drawn } from '../parts/line-path.ts';

/** Minimum width of a window that starts where the record starts, in ms. */
const MIN_WIDTH_MS = 600_000;

/**
 * Returns the window to draw: a default window starts at the first point, if that is later.
 * @param window in ms since 1970
 * @param isDefault false: the start of the window was requested
 */
export function windowOfRecord(
  [from, to]: readonly [number, number],
  lines: readonly Pick<Line, 'points'>[],
  isDefault: boolean,
): readonly [number, number] {
  if (!isDefault) return [from, to];
  let first = Number.POSITIVE_INFINITY;
  for (const { points } of lines)
    for (const [at, value] of points) if (drawn(value) !== null) first = Math.min(first, at);
  if (first === Number.POSITIVE_INFINITY) return [from, to];
  return [Math.max(from, Math.min(first, to - MIN_WIDTH_MS)), to];
}

const UNIT = /\bin (nAVAX|AVAX|percent|ms|seconds|bytes|tokens|the (?:asset's )?smallest unit)\b/i;

/** Returns the units of columns, as their comments name them; null if a comment names none. */
export function unitOf(columns: readonly DeclaredColumn[]): string | null {
  const units = columns.map(({ comment }) => UNIT.exec(comment)?.[1] ?? null);
  return units.includes(null) ? null : [...new Set(units)].join(', ');
}
