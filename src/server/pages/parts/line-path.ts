import type { Line } from './line-chart.tsx';

/**
 * Style of a line: straight segments between points (`line`), a constant value until the next point
 * (`steps`), or steps with a filled area below a single line (`counts`).
 */
export type Draws = 'line' | 'steps' | 'counts';

/** Coordinates of a drawing, as shares of its width and height. */
export interface Shape {
  readonly draws: Draws;
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
}

/**
 * Width and height of the coordinate system of the lines. The browser scales the lines to the size of the
 * chart.
 */
export const UNITS = 10_000;

const units = (share: number) => Math.round(share * UNITS);

/** Converts an exact number to a double. Returns null for values that cannot be drawn, such as NaN. */
export function drawn(text: string | null): number | null {
  const value = text === null ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Returns a path with gaps where there is no value. A point between two gaps is a dot. */
export function linePath(points: Line['points'], { draws, x, y }: Shape): string {
  let path = '';
  let down = false;
  for (const [at, text] of points) {
    const value = drawn(text);
    const across = units(x(at));
    if (down && draws !== 'line') path += `H${across}`;
    if (value !== null) {
      const up = units(y(value));
      if (!down) path += `M${across} ${up}h0`;
      else path += draws === 'line' ? `L${across} ${up}` : `V${up}`;
    }
    down = value !== null;
  }
  return path;
}

/** Returns a path with a dot at each point between two gaps, to which no line leads. */
export function dotsOf(points: Line['points'], { draws, x, y }: Shape): string {
  const isNone = (place: number) => drawn(points[place]?.[1] ?? null) === null;
  return points
    .flatMap(([at, text], place) => {
      const value = drawn(text);
      // A step has a line up to the next point, even if the next point is a gap.
      const isAlone =
        isNone(place - 1) && (draws === 'line' ? isNone(place + 1) : place === points.length - 1);
      return value === null || !isAlone ? [] : [`M${units(x(at))} ${units(y(value))}h0`];
    })
    .join('');
}

export function areaOf(points: Line['points'], { x, y }: Shape): string {
  const ground = units(y(0));
  let path = '';
  let down = false;
  for (const [at, text] of points) {
    const value = drawn(text);
    const across = units(x(at));
    if (down) path += `H${across}`;
    else if (value !== null) path += `M${across} ${ground}`;
    if (value !== null) path += `V${units(y(value))}`;
    else if (down) path += `V${ground}Z`;
    down = value !== null;
  }
  return down ? `${path}V${ground}Z` : path;
}

export function marksOf({ points, marks = [] }: Line, { x, y }: Shape): string {
  const values = new Map(points);
  return marks
    .flatMap((at) => {
      const value = drawn(values.get(at) ?? null);
      return value === null ? [] : [`M${units(x(at))} ${units(y(value))}h0`];
    })
    .join('');
}
