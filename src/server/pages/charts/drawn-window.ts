import type { DeclaredColumn } from '../../../db/declared.ts';
import type { Line } from '../parts/line-chart.tsx';
import { drawn } from '../parts/line-path.ts';

/** Minimum length of a window that starts at the first point, in ms. */
const MIN_WIDTH_MS = 600_000;

/**
 * Returns the window to draw, in ms since 1970. If the start is a default, the drawn window starts at the
 * first point of the lines.
 * @param isDefault false if the request contains the start of the window
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

/** Returns the units of columns according to their comments; null if a comment contains no unit. */
export function unitOf(columns: readonly DeclaredColumn[]): string | null {
  const units = columns.map(({ comment }) => UNIT.exec(comment)?.[1] ?? null);
  return units.includes(null) ? null : [...new Set(units)].join(', ');
}
