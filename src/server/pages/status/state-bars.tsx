import type { WindowStates } from '../../../reporting/reports/nodes/windows.ts';
import { stateWords } from './state-texts.ts';

const WIDTH = 4;
const GAP = 1;
const HEIGHT = 28;
/** Minimum height of a state in a bar, so that short states are visible. */
const LEAST_HEIGHT = 4;
/** States of a bar, from bottom to top. */
const STATES = ['up', 'unknown', 'maintenance', 'down'] as const;
type BarState = (typeof STATES)[number];

/**
 * Returns the fill of a state. Each state has a different pattern, so that users do not need to distinguish
 * colors.
 */
const fillOf = (state: BarState) => (state === 'up' ? undefined : `url(#state-${state})`);

/**
 * The patterns of the states: up is plain, down is cross-hatched, unknown is hatched, maintenance is lined. A
 * page contains the patterns once.
 */
export function StatePatterns() {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern id="state-down" width="4" height="4" patternUnits="userSpaceOnUse">
          <rect class="down" width="4" height="4" />
          <path class="ink" d="M0 0l4 4M4 0l-4 4" />
        </pattern>
        <pattern id="state-unknown" width="4" height="4" patternUnits="userSpaceOnUse">
          <rect class="unknown" width="4" height="4" />
          <path class="ink" d="M-1 3l2 2M0 0l4 4M3 -1l2 2" />
        </pattern>
        <pattern id="state-maintenance" width="4" height="4" patternUnits="userSpaceOnUse">
          <rect class="maintenance" width="4" height="4" />
          <path class="ink" d="M0 1h4M0 3h4" />
        </pattern>
      </defs>
    </svg>
  );
}

/**
 * The legend of the patterns and colors.
 * @param none meaning of an empty bar
 */
export function Legend({
  meanings = { up: 'up', down: 'down', unknown: 'unknown', maintenance: 'maintenance' },
  none = 'no record: before the first probe',
}: {
  readonly meanings?: Readonly<Partial<Record<BarState, string>>>;
  readonly none?: string;
}) {
  return (
    <ul class="legend">
      {STATES.filter((state) => state in meanings).map((state) => (
        <li>
          <svg viewBox="0 0 12 12" class="states" aria-hidden="true">
            <rect class={state} fill={fillOf(state)} width="12" height="12" />
          </svg>
          {meanings[state]}
        </li>
      ))}
      <li>
        <svg viewBox="0 0 12 12" class="states" aria-hidden="true">
          <rect class="unrecorded" y="10" width="12" height="2" />
        </svg>
        {none}
      </li>
    </ul>
  );
}

/**
 * A row of bars, one per window. In each bar the states are stacked by their share.
 * @param label summary for screen readers
 * @param href returns the URL of the link of a bar; null: no link. The page must contain the same links
 * elsewhere
 */
export function StateBars({
  windows,
  label,
  href = () => null,
}: {
  readonly windows: readonly WindowStates[];
  readonly label: string;
  readonly href?: (window: WindowStates) => string | null;
}) {
  const width = Math.max(1, windows.length * (WIDTH + GAP) - GAP);
  return (
    <>
      <p class="unseen">{label}</p>
      <svg
        class="states bars"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        // The links are only for the mouse. For screen readers, the page contains the same links elsewhere.
        aria-hidden="true"
      >
        {windows.map((window, at) => {
          const to = href(window);
          const bar = (
            <StateBar
              of={window}
              title={stateWords(window)}
              x={at * (WIDTH + GAP)}
              width={WIDTH}
              height={HEIGHT}
            />
          );
          return to === null ? (
            bar
          ) : (
            <a href={to} tabIndex={-1}>
              {bar}
            </a>
          );
        })}
      </svg>
    </>
  );
}

/** A bar, or a field of a calendar, with states in any unit. */
export function StateBar({
  of,
  title,
  x,
  y = 0,
  width,
  height,
}: {
  readonly of: Readonly<Record<BarState, number>>;
  readonly title: string;
  readonly x: number;
  readonly y?: number;
  readonly width: number;
  readonly height: number;
}) {
  let top = y + height;
  return (
    <g>
      <title>{title}</title>
      {STATES.every((state) => of[state] === 0) ? (
        <rect class="unrecorded" x={x} y={top - 2} width={width} height={2} />
      ) : (
        heightsOf(of, height).map(({ state, tall }) => {
          top -= tall;
          return (
            <rect
              class={state}
              fill={fillOf(state)}
              x={x}
              y={round(top)}
              width={width}
              height={round(tall)}
            />
          );
        })
      )}
    </g>
  );
}

/**
 * Returns the height of each state of a bar. Short states get a minimum height, which is subtracted from
 * the height of the longest state.
 */
function heightsOf(of: Readonly<Record<BarState, number>>, height: number) {
  const recorded = STATES.reduce((sum, state) => sum + of[state], 0);
  const parts = STATES.filter((state) => of[state] > 0).map((state) => ({
    state,
    tall: Math.max((of[state] / recorded) * height, Math.min(LEAST_HEIGHT, height / 3)),
  }));
  const over = parts.reduce((sum, { tall }) => sum + tall, 0) - height;
  const tallest = Math.max(...parts.map(({ tall }) => tall));
  const longest = parts.findIndex(({ tall }) => tall === tallest);
  return parts.map(({ state, tall }, at) => ({ state, tall: at === longest ? tall - over : tall }));
}

const round = (value: number) => Math.round(value * 100) / 100;
