import uPlot from 'uplot';
import { amountTicks, shortAmount, timeTicks } from '../../src/server/pages/parts/axis.ts';
import type { Draws } from '../../src/server/pages/parts/line-path.ts';
import { dataOf, type Line, linesOf } from './lines.ts';

/** Minimum width of a selected part, in CSS pixels. A shorter movement of the mouse is accidental. */
const MIN_SELECTION_PX = 5;
/** Minimum width of a chart that is not narrow, in CSS pixels. */
const MIN_WIDE_PX = 480;
/** Maximum number of time labels on a narrow chart. With more ticks, every second label is omitted. */
const MAX_NARROW_TICKS = 4;

/** Event handlers of a plot. */
export interface PlotEvents {
  /** Called when a part is selected; `from` and `to` are in ms since 1970. */
  onWindowSelected(from: number, to: number): void;
  /** Called when the user double-clicks, to display the original window. */
  onReset(): void;
  /** Called when the cursor moves; `at` is the selected time in ms since 1970, or null if there is none. */
  onPointSelected(at: number | null, lines: readonly Line[], draws: Draws): void;
}

/**
 * Draws the lines of a figure.
 * @param place parent element of the plot, which determines the width and height
 */
export function plot(figure: HTMLElement, place: HTMLElement, events: PlotEvents): uPlot {
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
                  events.onReset();
                  return null;
                },
              },
            }
          : {}),
      },
      scales: {
        x: { time: true, range: (_, minimum, maximum) => (selectsWindow ? whole : [minimum, maximum]) },
        y: { range: (_, minimum, maximum) => amountsOf(draws, minimum, maximum) },
      },
      axes: [
        {
          ...axis,
          size: 32,
          splits: (_, __, minimum, maximum) => timeTicks(minimum, maximum).map(({ at }) => at),
          values: ({ width, scales }, splits) => {
            const { min, max } = scales.x ?? {};
            const texts = new Map(timeTicks(min ?? from, max ?? to).map(({ at, text }) => [at, text]));
            const isCrowded = width < MIN_WIDE_PX && splits.length > MAX_NARROW_TICKS;
            return splits.map((at, n) => (isCrowded && n % 2 === 1 ? '' : (texts.get(at) ?? '')));
          },
        },
        {
          ...axis,
          size: ({ width }) => (width < MIN_WIDE_PX ? 48 : 64),
          splits: (_, __, minimum, maximum) => amountTicks(minimum, maximum),
          values: (_, splits) => splits.map(shortAmount),
        },
      ],
      series: [{}, ...lines.map((line) => seriesOf(line, draws, lines.length === 1))],
      hooks: {
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (!selectsWindow || width < MIN_SELECTION_PX) return;
            events.onWindowSelected(self.posToVal(left, 'x'), self.posToVal(left + width, 'x'));
          },
        ],
        setCursor: [
          (self) => {
            const { idx, left = -1 } = self.cursor;
            // On lines, the cursor selects a point. On steps and counts, the cursor selects any time.
            const point = typeof idx === 'number' ? (self.data[0][idx] ?? null) : null;
            const any = left < 0 ? null : Math.round(self.posToVal(left, 'x'));
            events.onPointSelected(draws === 'line' ? point : any, lines, draws);
          },
        ],
        draw: [(self) => drawMarks(self, lines)],
      },
    },
    dataOf(lines, draws),
    place,
  );
}

function drawsOf({ dataset: { draws } }: HTMLElement): Draws {
  return draws === 'steps' || draws === 'counts' ? draws : 'line';
}

/** Returns round amounts that enclose all values. The axis of counts contains zero. */
function amountsOf(draws: Draws, minimum: number | null, maximum: number | null): uPlot.Range.MinMax {
  if (minimum === null || maximum === null) return [0, 1];
  const ticks =
    draws === 'counts'
      ? amountTicks(Math.min(0, minimum), Math.max(0, maximum))
      : amountTicks(minimum, maximum);
  return [ticks[0] ?? minimum, ticks.at(-1) ?? maximum];
}

function seriesOf({ colour, dashed }: Line, draws: Draws, alone: boolean): uPlot.Series {
  const stepped = draws === 'line' ? undefined : uPlot.paths.stepped?.({ align: 1, alignGaps: 1 });
  return {
    stroke: colour,
    width: 1.75,
    points: { show: false, size: 5, fill: colour, filter: isolatedPoints },
    ...(dashed ? { dash: [6, 3] } : {}),
    ...(stepped ? { paths: stepped, gaps: extendGaps } : {}),
    ...(draws === 'counts' && alone ? { fill: `color-mix(in srgb, ${colour} 18%, transparent)` } : {}),
  };
}

/** Extends each gap to hide the vertical segment at its end, which has no meaning. */
const extendGaps: uPlot.Series.GapsRefiner = (_, __, ___, ____, gaps) =>
  gaps.map(([from, to]) => [from, to + 2 * devicePixelRatio]);

/**
 * Returns the indexes of points between two gaps. These points get dots, because no line is drawn to them.
 */
function isolatedPoints(self: uPlot, series: number): number[] {
  const values = [...(self.data[series] ?? [])].flatMap((value, at) =>
    value === undefined ? [] : [{ value, at }],
  );
  const isNone = (place: number) => (values[place]?.value ?? null) === null;
  return values.flatMap(({ at }, place) =>
    !isNone(place) && isNone(place - 1) && isNone(place + 1) ? [at] : [],
  );
}

/** Draws a ring around each marked point. */
function drawMarks(self: uPlot, lines: readonly Line[]): void {
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
