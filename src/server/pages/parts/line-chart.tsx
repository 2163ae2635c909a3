import { momentText } from '../texts.ts';
import { amountTicks, shortAmount, spanOf, timeTicks } from './axis.ts';
import { areaOf, type Draws, dotsOf, drawn, linePath, marksOf, type Shape, UNITS } from './line-path.ts';

export interface Line {
  readonly label: string;
  /** Points in chronological order: the time in ms since 1970, and the exact value; null: a gap. */
  readonly points: readonly (readonly [at: number, value: string | null])[];
  /** Times of the points that differ between the two moments of the record, in ms since 1970. */
  readonly marks?: readonly number[];
}

export interface LineChartProps {
  readonly lines: readonly Line[];
  /** Description for screen readers. */
  readonly title: string;
  /** Name of the chart, unique on its page. Default: chart. */
  readonly name?: string;
  /** Start and end of the window, in ms since 1970; null: the range of the points. */
  readonly window: readonly [from: number, to: number] | null;
  readonly draws?: Draws;
  /** Unit of the values; null if unknown. */
  readonly unit?: string | null;
  /**
   * True if the page accepts the parameters `from` and `to`, so that the page can load a selected part of the
   * chart.
   */
  readonly selectsWindow?: boolean;
}

/**
 * A line chart, rendered by the server. In the browser, the island `charts` renders the chart again from the
 * data in the legend, with a selection of a part and with exact values.
 */
export function LineChart({
  lines,
  title,
  name = 'chart',
  window,
  draws = 'line',
  unit = null,
  selectsWindow = false,
}: LineChartProps) {
  const points = lines.flatMap((line) => line.points);
  const values = points.flatMap(([, value]) => drawn(value) ?? []);
  if (values.length === 0) return <p class="empty">No data in this window.</p>;
  const [first, last] = window ?? widen(spanOf(points.map(([at]) => at)));
  const amounts = amountTicks(...spanOf(draws === 'counts' ? [0, ...values] : values));
  const [least, most] = [amounts[0] ?? 0, amounts.at(-1) ?? 1];
  const shape: Shape = {
    draws,
    x: (at) => (last > first ? (at - first) / (last - first) : 0.5),
    y: (value) => 1 - (value - least) / (most - least),
  };
  return (
    <figure
      class="chart"
      data-draws={draws}
      data-window={`${first} ${last}`}
      data-selects-window={selectsWindow ? '' : undefined}
    >
      <svg role="img" aria-labelledby={`${name}-title ${name}-about`}>
        <title id={`${name}-title`}>{title}</title>
        <desc id={`${name}-about`}>
          {lines.map(({ label, points: own }) => aboutLine(label, own)).join(' ')} The table below lists the
          points.
        </desc>
        <g class="grid">
          {amounts.map((amount) => (
            <g>
              <line x1="0" x2="100%" y1={percent(shape.y(amount))} y2={percent(shape.y(amount))} />
              <text class="amount" x="-8" y={percent(shape.y(amount))} dy="0.32em">
                {shortAmount(amount)}
              </text>
            </g>
          ))}
          {timeTicks(first, last).map(({ at, text }, place, ticks) => (
            <g class={place % 2 === 1 && ticks.length > MAX_NARROW_TICKS ? 'second' : undefined}>
              <line class="tick" x1={percent(shape.x(at))} x2={percent(shape.x(at))} y1="0" y2="100%" />
              <text class="moment" x={percent(shape.x(at))} y="100%" dy="1.5em">
                {text}
              </text>
            </g>
          ))}
        </g>
        <svg
          viewBox={`0 0 ${UNITS} ${UNITS}`}
          preserveAspectRatio="none"
          width="100%"
          height="100%"
          aria-hidden="true"
        >
          {lines.map((line, place) => (
            <g class={`line-${place}`}>
              {draws === 'counts' && lines.length === 1 && (
                <path class="area" d={areaOf(line.points, shape)} />
              )}
              <path class="line" d={linePath(line.points, shape)} />
              <path class="dots" d={dotsOf(line.points, shape)} />
              {line.marks && <path class="marks" d={marksOf(line, shape)} />}
            </g>
          ))}
        </svg>
      </svg>
      <figcaption>
        {unit && <span class="soft">Unit: {unit}</span>}
        {lines.map(({ label, points: own, marks = [] }, place) => (
          <span
            class={`key key-${place}`}
            data-points={own.map(([at, value]) => `${at}=${value ?? ''}`).join(' ')}
            data-marks={marks.length > 0 ? marks.join(' ') : undefined}
          >
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Maximum number of labels of a time axis that fit on a narrow screen. */
const MAX_NARROW_TICKS = 4;
/** Half of the width of the window around a single moment, in ms. */
const SINGLE_MOMENT_MARGIN_MS = 1_800_000;

const widen = ([first, last]: readonly [number, number]): readonly [number, number] =>
  last > first ? [first, last] : [first - SINGLE_MOMENT_MARGIN_MS, last + SINGLE_MOMENT_MARGIN_MS];

const percent = (share: number) => `${(share * 100).toFixed(2)}%`;

function aboutLine(label: string, points: Line['points']): string {
  const there = points.flatMap(([at, text]) => {
    const value = drawn(text);
    return value === null ? [] : [{ at, value }];
  });
  const [begin, end] = [there[0], there.at(-1)];
  if (!begin || !end) return `${label}: no points.`;
  const [least, most] = spanOf(there.map(({ value }) => value));
  const from = `${momentText(new Date(begin.at))} to ${momentText(new Date(end.at))}`;
  return `${label}: from ${from}, between ${shortAmount(least)} and ${shortAmount(most)}, last value ${shortAmount(end.value)}.`;
}
