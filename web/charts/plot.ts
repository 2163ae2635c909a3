import uPlot from 'uplot';
import { amountTicks, shortAmount, timeTicks } from '../../src/server/pages/parts/axis.ts';
import type { Draws } from '../../src/server/pages/parts/line-path.ts';
import { dataOf, type Line, linesOf } from './lines.ts';

/** Minimum width of a selected part: less is an accidental movement. CSS pixels. */
const MIN_DRAG_PX = 5;
/** A narrow screen shows every second time label. */
const NARROW = 480;
/** Maximum number of selected times on a narrow screen. */
const MAX_NARROW_TICKS = 4;

/** Events of a plot. */
export interface Reader {
  /** Called when a part was selected. Times are in ms since 1970. */
  onWindowSelected(from: number, to: number): void;
  /** Called when the complete range is requested. */
  reset(): void;
  /** Called when a point is selected, with null when none is. */
  onPointSelected(at: number | null, lines: readonly Line[], draws: Draws): void;
}

/** Draws a figure's lines in the element, in its width and height. */
export function plot(figure: HTMLElement, place: HTMLElement, reader: Reader): uPlot {
  const draws = drawsOf(figure);
  const selectsWindow = figure.dataset.selectsWindow !== undefined;
  const [from = 0, to = 0] = (figure.dataset.window ?? '').split(' ').map(Number);
  const whole: uPlot.Range.MinMax = [from, to > from ? to : from + 1];
  const lines = linesOf(figure);
  const grid = getComputedStyle(figure).borderTopColor;
  const text = getComputedStyle(figure.querySelector('.grid text') ?? figure).fill;
  const font = `12px ${getComputedStyle(figure).fontFamily}`;
  const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  return new uPlot(
    {
      ...{ width: place.clientWidth, height: place.clientHeight, ms: 1 },
      legend: { show: false },
      padding: [8, 28, 0, 0],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: !selectsWindow },
        points: { show: draws === 'line' },
        ...(selectsWindow
          ? {
              bind: {
                dblclick: () => () => {
                  reader.reset();
                  return null;
                },
              },
            }
          : {}),
      },
      scales: {
        x: { time: true, range: (_, least, most) => (selectsWindow ? whole : [least, most]) },
        y: { range: (_, least, most) => amountsOf(draws, least, most) },
      },
      axes: [
        {
          ...axis,
          size: 32,
          splits: (_, __, least, most) => timeTicks(least, most).map(({ at }) => at),
          values: ({ width, scales }, splits) => {
            const { min, max } = scales.x ?? {};
            const texts = new Map(timeTicks(min ?? from, max ?? to).map(({ at, text }) => [at, text]));
            const isCrowded = width < NARROW && splits.length > MAX_NARROW_TICKS;
            return splits.map((at, n) => (isCrowded && n % 2 === 1 ? '' : (texts.get(at) ?? '')));
          },
        },
        {
          ...axis,
          size: ({ width }) => (width < NARROW ? 48 : 64),
          splits: (_, __, least, most) => amountTicks(least, most),
          values: (_, splits) => splits.map(shortAmount),
        },
      ],
      series: [{}, ...lines.map((line) => seriesOf(line, draws, lines.length === 1))],
      hooks: {
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (!selectsWindow || width < MIN_DRAG_PX) return;
            reader.onWindowSelected(self.posToVal(left, 'x'), self.posToVal(left + width, 'x'));
          },
        ],
        setCursor: [
          (self) => {
            const { idx, left = -1 } = self.cursor;
            // Points are selected one by one; states are selected anywhere.
            const point = typeof idx === 'number' ? (self.data[0][idx] ?? null) : null;
            const any = left < 0 ? null : Math.round(self.posToVal(left, 'x'));
            reader.onPointSelected(draws === 'line' ? point : any, lines, draws);
          },
        ],
        draw: [(self) => mark(self, lines)],
      },
    },
    dataOf(lines, draws),
    place,
  );
}

function drawsOf({ dataset: { draws } }: HTMLElement): Draws {
  return draws === 'steps' || draws === 'counts' ? draws : 'line';
}

/** Round amounts around all values; counts are drawn from zero up. */
function amountsOf(draws: Draws, least: number | null, most: number | null): uPlot.Range.MinMax {
  if (least === null || most === null) return [0, 1];
  const ticks =
    draws === 'counts' ? amountTicks(Math.min(0, least), Math.max(0, most)) : amountTicks(least, most);
  return [ticks[0] ?? least, ticks.at(-1) ?? most];
}

function seriesOf({ colour, dashed }: Line, draws: Draws, alone: boolean): uPlot.Series {
  const stepped = draws === 'line' ? undefined : uPlot.paths.stepped?.({ align: 1, alignGaps: 1 });
  return {
    stroke: colour,
    width: 1.75,
    points: { show: false, size: 5, fill: colour, filter: lonely },
    ...(dashed ? { dash: [6, 3] } : {}),
    ...(stepped ? { paths: stepped, gaps: afterStep } : {}),
    ...(draws === 'counts' && alone ? { fill: `color-mix(in srgb, ${colour} 18%, transparent)` } : {}),
  };
}

/** Extends each gap beyond the vertical step at its end, which has no meaning. */
const afterStep: uPlot.Series.GapsRefiner = (_, __, ___, ____, gaps) =>
  gaps.map(([from, to]) => [from, to + 2 * devicePixelRatio]);

/** Returns the points between two gaps, which would be invisible otherwise. */
function lonely(self: uPlot, series: number): number[] {
  const values = [...(self.data[series] ?? [])].flatMap((value, at) =>
    value === undefined ? [] : [{ value, at }],
  );
  const isNone = (place: number) => (values[place]?.value ?? null) === null;
  return values.flatMap(({ at }, place) =>
    !isNone(place) && isNone(place - 1) && isNone(place + 1) ? [at] : [],
  );
}

/** A ring if another value was known at the other moment. */
function mark(self: uPlot, lines: readonly Line[]): void {
  const { ctx } = self;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const { colour, marks, points } of lines) {
    const values = new Map(points);
    ctx.strokeStyle = colour;
    for (const at of marks) {
      const value = Number(values.get(at) ?? Number.NaN);
      if (!Number.isFinite(value)) continue;
      ctx.beginPath();
      ctx.arc(
        self.valToPos(at, 'x', true),
        self.valToPos(value, 'y', true),
        4 * devicePixelRatio,
        0,
        2 * Math.PI,
      );
      ctx.stroke();
    }
  }
  ctx.restore();
}
