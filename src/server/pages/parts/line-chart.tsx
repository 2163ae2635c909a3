import { momentText } from '../texts.ts';
import { amountTicks, shortAmount, timeTicks } from './axis.ts';

/** A line of a chart. */
export interface Line {
  readonly label: string;
  /** Ms since 1970 and the value, by time; null: there is none, and the line has a gap. */
  readonly points: readonly (readonly [at: number, value: number | null])[];
}

export interface LineChartProps {
  readonly lines: readonly Line[];
  /** What it shows, for those who do not see it. */
  readonly title: string;
  /** The time that is drawn, ms since 1970; null: from the first point to the last. */
  readonly window: readonly [from: number, to: number] | null;
}

/** The units of the drawing in each direction. It is stretched to its place; texts are not. */
const UNITS = 10_000;

/** Lines over time, drawn by the server. */
export function LineChart({ lines, title, window }: LineChartProps) {
  const points = lines.flatMap((line) => line.points);
  const values = points.flatMap(([, value]) => (value === null ? [] : [value]));
  const [first, last] = window ?? spanOf(points.map(([at]) => at));
  const amounts = amountTicks(...spanOf(values));
  const [least, most] = [amounts[0] ?? 0, amounts.at(-1) ?? 1];
  const x = (at: number) => (last > first ? (at - first) / (last - first) : 0.5);
  const y = (value: number) => 1 - (value - least) / (most - least);
  if (values.length === 0) return <p class="empty">There is nothing to draw in this window.</p>;
  return (
    <figure class="chart">
      <svg role="img" aria-labelledby="chart-title chart-about">
        <title id="chart-title">{title}</title>
        <desc id="chart-about">
          {lines.map(({ label, points: own }) => aboutLine(label, own)).join(' ')} The table below has the
          points.
        </desc>
        <g class="grid">
          {amounts.map((amount) => (
            <g key={amount}>
              <line x1="0" x2="100%" y1={percent(y(amount))} y2={percent(y(amount))} />
              <text class="amount" x="-8" y={percent(y(amount))} dy="0.32em">
                {shortAmount(amount)}
              </text>
            </g>
          ))}
          {timeTicks(first, last).map(({ at, text }, place) => (
            <g key={at} class={place % 2 === 1 ? 'second' : undefined}>
              <line class="tick" x1={percent(x(at))} x2={percent(x(at))} y1="0" y2="100%" />
              <text class="moment" x={percent(x(at))} y="100%" dy="1.5em">
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
          {lines.map(({ label, points: own }, place) => (
            <path class={`line line-${place}`} d={pathOf(own, x, y)} key={label} />
          ))}
        </svg>
      </svg>
      <figcaption>
        {lines.map(({ label }, place) => (
          <span class={`key key-${place}`} key={label}>
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const percent = (share: number) => `${(share * 100).toFixed(2)}%`;

function spanOf(all: readonly number[]): [least: number, most: number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const one of all) {
    least = Math.min(least, one);
    most = Math.max(most, one);
  }
  return [least, most];
}

/** A path that is interrupted where there is no value. A point between two gaps is a dot. */
function pathOf(points: Line['points'], x: (at: number) => number, y: (value: number) => number): string {
  let path = '';
  let down = false;
  for (const [at, value] of points) {
    if (value !== null) {
      const place = `${Math.round(x(at) * UNITS)} ${Math.round(y(value) * UNITS)}`;
      path += down ? `L${place}` : `M${place}h0`;
    }
    down = value !== null;
  }
  return path;
}

function aboutLine(label: string, points: Line['points']): string {
  const there = points.flatMap(([at, value]) => (value === null ? [] : [{ at, value }]));
  const [begin, end] = [there[0], there.at(-1)];
  if (!begin || !end) return `${label}: no points.`;
  const [least, most] = spanOf(there.map(({ value }) => value));
  const from = `${momentText(new Date(begin.at))} to ${momentText(new Date(end.at))}`;
  return `${label}: from ${from}, between ${shortAmount(least)} and ${shortAmount(most)}, at last ${shortAmount(end.value)}.`;
}
