import uPlot from 'uplot';
import { type Draws, drawn } from '../../src/server/pages/parts/line-path.ts';

/** A line of a chart, parsed from its element in the legend of the page. */
export interface Line {
  /** Element of the line in the legend. */
  readonly key: HTMLElement;
  readonly colour: string;
  readonly dashed: boolean;
  /**
   * Points in chronological order: the time in ms since 1970, and the exact value; null: the start of a gap.
   */
  readonly points: readonly (readonly [at: number, value: string | null])[];
  /** Times of the marked points, in ms since 1970. */
  readonly marks: readonly number[];
}

/** Returns the lines of a figure. */
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
 * Adds the points of an earlier part of the window to the lines of a figure. The earlier part ends at the
 * first drawn points, and contains the gaps before them.
 */
export function addEarlier(figure: HTMLElement, earlier: HTMLElement): void {
  const keys = new Map([...keysOf(figure)].map((key) => [labelOf(key), key]));
  for (const fresh of keysOf(earlier)) {
    const key = keys.get(labelOf(fresh));
    const first = key ? Number.parseFloat(key.dataset.points ?? '') : Number.POSITIVE_INFINITY;
    const before = (text: string | undefined) =>
      partsOf(text).filter((part) => Number.parseFloat(part) < first);
    if (key) {
      key.dataset.points = [...before(fresh.dataset.points), ...partsOf(key.dataset.points)].join(' ');
      key.dataset.marks = [...before(fresh.dataset.marks), ...partsOf(key.dataset.marks)].join(' ');
    } else figure.querySelector('figcaption')?.append(keyAt(fresh, keys.size));
  }
}

const keysOf = (figure: HTMLElement) => figure.querySelectorAll<HTMLElement>('[data-points]');
/** Returns the label of a line from the server, without the selected value that follows the label. */
const labelOf = (key: HTMLElement) => key.firstChild?.textContent ?? '';

function keyAt(fresh: HTMLElement, place: number): HTMLElement {
  const key = document.createElement('span');
  key.className = `key key-${place}`;
  key.textContent = labelOf(fresh);
  Object.assign(key.dataset, fresh.dataset);
  return key;
}

const partsOf = (text: string | undefined) => (text ? text.split(' ') : []);

/** Returns the data for uPlot: the times of all lines, and the value of each line at each time. */
export function dataOf(lines: readonly Line[], draws: Draws): uPlot.AlignedData {
  return uPlot.join(
    lines.map(({ points }): uPlot.AlignedData => {
      const visible = draws === 'line' ? points : points.flatMap(extendToGap);
      return [visible.map(([at]) => at), visible.map(([, value]) => drawn(value))];
    }),
  );
}

/** Adds a point with the previous value before a gap, because a state is valid until the gap. */
function extendToGap(
  point: Line['points'][number],
  place: number,
  points: Line['points'],
): readonly Line['points'][number][] {
  const before = points[place - 1]?.[1] ?? null;
  return point[1] === null && before !== null ? [[point[0] - 1, before], point] : [point];
}

/**
 * Returns the point of a line at a moment: the nearest point, or for steps and counts the last point up to
 * the moment. Returns null if there is no such point, or the moment is in a gap.
 * @param at ms since 1970
 * @param tolerance maximum time between the moment and the nearest point, in ms; not used for steps and
 * counts
 */
export function pointAt(
  { points }: Line,
  draws: Draws,
  at: number,
  tolerance: number,
): Line['points'][number] | null {
  const next = points.findIndex(([time]) => time > at);
  const last = next === 0 ? undefined : points.at(next === -1 ? -1 : next - 1);
  if (draws !== 'line') return last?.[1] ? last : null;
  const near = [last, points[next]].flatMap((one) =>
    one?.[1] && Math.abs(one[0] - at) <= tolerance ? [one] : [],
  );
  return near.sort(([one], [other]) => Math.abs(one - at) - Math.abs(other - at))[0] ?? null;
}
