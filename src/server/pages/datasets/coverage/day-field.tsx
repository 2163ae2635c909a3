import type { FieldPlace } from '../../parts/calendar.tsx';
import { fillOf } from '../../status/state-bars.tsx';
import { type DayCoverage, type DayState, dayWords, stateOfDay } from './day-words.ts';

/** Minimum height of the missing part, as a share of the field, so that it is visible however short. */
const MIN_MISSING_SHARE = 1 / 3;
/** Classes of the parts, which are those of the states of nodes. */
const FILLS = { covered: 'up', fetchable: 'maintenance', lost: 'down' } as const;

/** The field of a day: the covered part, and below it the missing part. */
export function DayField({ day, x, y, width, height }: FieldPlace & { readonly day: DayCoverage }) {
  const state = stateOfDay(day);
  const share = day.missing_ms / Math.max(day.missing_ms + day.covered_ms, 1);
  const missing =
    state === 'partial' ? Math.min(Math.max(share, MIN_MISSING_SHARE), 1 - MIN_MISSING_SHARE) : share;
  const fetchable = (missing * day.fetchable_ms) / Math.max(day.missing_ms, 1);
  const parts = [
    { part: 'covered', tall: 1 - missing },
    { part: 'fetchable', tall: fetchable },
    { part: 'lost', tall: missing - fetchable },
  ] as const;
  let top = y;
  return (
    <g>
      <title>{dayWords(day)}</title>
      {state === 'none' ? (
        <rect class="unrecorded" x={x} y={y + height - 2} width={width} height={2} />
      ) : (
        parts.map(({ part, tall }) => {
          const from = top;
          top += tall * height;
          const fill = FILLS[part];
          return tall > 0 ? (
            <rect
              class={fill}
              fill={fillOf(fill)}
              x={x}
              y={round(from)}
              width={width}
              height={round(tall * height)}
              key={part}
            />
          ) : null;
        })
      )}
    </g>
  );
}

const round = (value: number) => Math.round(value * 100) / 100;

/** The legend of the fields. */
export function DayLegend() {
  const meanings = [
    [FILLS.covered, 'covered'],
    [FILLS.fetchable, 'missing, can still be fetched'],
    [FILLS.lost, 'missing for good'],
  ] as const;
  return (
    <ul class="legend">
      {meanings.map(([fill, words]) => (
        <li key={fill}>
          <svg viewBox="0 0 12 12" class="states" aria-hidden="true">
            <rect class={fill} fill={fillOf(fill)} width="12" height="12" />
          </svg>
          {words}
        </li>
      ))}
      <li>
        <svg viewBox="0 0 12 12" class="states" aria-hidden="true">
          <rect class="unrecorded" y="10" width="12" height="2" />
        </svg>
        no record: nothing recorded or expected
      </li>
    </ul>
  );
}

/** A strip of days in the order of time. There may be thousands: those without gaps are drawn as one path. */
export function DayStrip({ days }: { readonly days: readonly DayCoverage[] }) {
  const [step, wide, tall] = [4, 3.4, 16];
  const states = days.map(stateOfDay);
  const all = (wanted: DayState, height: number) =>
    states
      .flatMap((state, at) =>
        state === wanted ? [`M${at * step} ${tall - height}h${wide}v${height}h-${wide}z`] : [],
      )
      .join('');
  return (
    <svg
      class="states strip"
      viewBox={`0 0 ${Math.max(days.length * step, 1)} ${tall}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class={FILLS.covered} d={all('covered', tall)} />
      <path class="unrecorded" d={all('none', 2)} />
      {days.map((day, at) =>
        day.missing_ms > 0 ? (
          <DayField day={day} x={at * step} y={0} width={wide} height={tall} key={day.day} />
        ) : null,
      )}
    </svg>
  );
}
