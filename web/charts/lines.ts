import uPlot from 'uplot';
import { type Draws, drawn } from '../../src/server/pages/parts/line-path.ts';

/** A line of a chart, parsed from its key in the page. */
export interface Line {
  readonly key: HTMLElement;
  readonly colour: string;
  readonly dashed: boolean;
  /** Ms since 1970 and the value with every digit; null: unknown from there on. */
  readonly points: readonly (readonly [at: number, value: string | null])[];
  readonly marks: readonly number[];
}

/** The lines of a figure. */
export function linesOf(figure: HTMLElement): Line[] {
  return [...figure.querySelectorAll<HTMLElement>('[data-points]')].map((key) => {
    const { borderTopColor, borderTopStyle } = getComputedStyle(key, '::before');
    return {
      key,
      colour: borderTopColor,
      dashed: borderTopStyle === 'dashed',
      points: partsOf(key.dataset.points).map((part) => {
        const [at, value] = part.split('=');
        return [Number(at), value || null] as const;
      }),
      marks: partsOf(key.dataset.marks).map(Number),
    };
  });
}

/**
 * Adds points of the same lines from an earlier part of the window. The earlier part ends at the first drawn
 * points, so that a gap between both parts is drawn as a gap.
 */
export function addEarlier(figure: HTMLElement, earlier: HTMLElement): void {
  const known = new Map([...keysOf(figure)].map((key) => [labelOf(key), key]));
  for (const fresh of keysOf(earlier)) {
    const key = known.get(labelOf(fresh));
    const first = key ? Number.parseFloat(key.dataset.points ?? '') : Number.POSITIVE_INFINITY;
    const before = (text: string | undefined) =>
      partsOf(text).filter((part) => Number.parseFloat(part) < first);
    if (key) {
      key.dataset.points = [...before(fresh.dataset.points), ...partsOf(key.dataset.points)].join(' ');
      key.dataset.marks = [...before(fresh.dataset.marks), ...partsOf(key.dataset.marks)].join(' ');
    } else figure.querySelector('figcaption')?.append(keyAt(fresh, known.size));
  }
}

const keysOf = (figure: HTMLElement) => figure.querySelectorAll<HTMLElement>('[data-points]');
/** Text of the server; the selected value follows it. */
const labelOf = (key: HTMLElement) => key.firstChild?.textContent ?? '';

function keyAt(fresh: HTMLElement, place: number): HTMLElement {
  const key = document.createElement('span');
  key.className = `key key-${place}`;
  key.textContent = labelOf(fresh);
  Object.assign(key.dataset, fresh.dataset);
  return key;
}

const partsOf = (text: string | undefined) => (text ? text.split(' ') : []);

/** Data of uPlot: the times of all lines, and the values of each at them. */
export function dataOf(lines: readonly Line[], draws: Draws): uPlot.AlignedData {
  return uPlot.join(
    lines.map(({ points }): uPlot.AlignedData => {
      const shown = draws === 'line' ? points : points.flatMap(held);
      return [shown.map(([at]) => at), shown.map(([, value]) => drawn(value))];
    }),
  );
}

/**
 * Returns the drawn points of a point. A value is valid up to the start of an unknown part, so that an
 * additional point ends the value there.
 */
function held(
  point: Line['points'][number],
  place: number,
  points: Line['points'],
): readonly Line['points'][number][] {
  const before = points[place - 1]?.[1] ?? null;
  return point[1] === null && before !== null ? [[point[0] - 1, before], point] : [point];
}

/**
 * The valid point of a line at a moment: the nearest, or for states the last one; null: there is none.
 * @param within maximum distance for lines without states, ms
 */
export function pointAt(
  { points }: Line,
  draws: Draws,
  at: number,
  within: number,
): Line['points'][number] | null {
  const next = points.findIndex(([time]) => time > at);
  const last = next === 0 ? undefined : points.at(next === -1 ? -1 : next - 1);
  if (draws !== 'line') return last?.[1] ? last : null;
  const near = [last, points[next]].flatMap((one) =>
    one?.[1] && Math.abs(one[0] - at) <= within ? [one] : [],
  );
  return near.sort(([one], [other]) => Math.abs(one - at) - Math.abs(other - at))[0] ?? null;
}
