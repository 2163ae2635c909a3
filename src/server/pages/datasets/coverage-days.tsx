import {
  type CoverageDay,
  NOT_RECORDED_YET,
  type TargetDay,
} from '../../../reporting/relations/coverage-days.ts';
import { Calendar, type FieldPlace } from '../parts/calendar.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Legend, StateBar } from '../status/state-bars.tsx';
import { countText, durationWords, numberText } from '../texts.ts';
import { changedAddress } from './addresses.ts';
import type { CoverageRecord } from './coverage-page.tsx';

/** Recorded, missing and fetchable time of a day. */
type DayCoverage = TargetDay;

export type DayState = 'covered' | 'partial' | 'gap' | 'none';

/** Returns the recorded, missing and fetchable time of a day, summed over all targets. */
export const dayOf = ({ day, covered_ms, missing_ms, reasons }: CoverageDay): DayCoverage => ({
  day,
  covered_ms,
  missing_ms,
  fetchable_ms: reasons
    .filter(({ reason }) => reason === NOT_RECORDED_YET)
    .reduce((sum, { missing_ms }) => sum + missing_ms, 0),
});

export const stateOfDay = ({ covered_ms, missing_ms }: DayCoverage): DayState => {
  if (missing_ms === 0) return covered_ms === 0 ? 'none' : 'covered';
  return covered_ms === 0 ? 'gap' : 'partial';
};

/** Describes a day: `2026-11-01: partial, 3 h missing`. */
export function dayWords(day: DayCoverage): string {
  const state = stateOfDay(day);
  if (state === 'none') return `${day.day}: no record`;
  const missing = day.missing_ms > 0 ? `, ${missingText(day)}` : '';
  return `${day.day}: ${state}${missing}`;
}

/** Describes the missing part of a day, and whether it can still be fetched. */
export function missingText({ missing_ms, fetchable_ms }: DayCoverage): string {
  const [all, part] = [durationWords(missing_ms / 1000), durationWords(fetchable_ms / 1000)];
  if (fetchable_ms === 0) return `${all} permanently missing`;
  return fetchable_ms < missing_ms
    ? `${all} missing, ${part} of it can still be fetched`
    : `${all} missing, can still be fetched`;
}

/** Summarizes several days: `80 covered, 3 partial, 1 gap`. */
export function daysWords(days: readonly DayCoverage[]): string {
  const states = days.map(stateOfDay);
  const parts = (['covered', 'partial', 'gap', 'none'] as const).flatMap((state) => {
    const count = states.filter((one) => one === state).length;
    return count === 0 ? [] : [`${count} ${state === 'none' ? 'without a record' : state}`];
  });
  return parts.join(', ');
}

/**
 * Returns all days of a range, including those without a record.
 * @param from ISO 8601, inclusive
 * @param to ISO 8601, exclusive
 */
export function allDays(days: readonly DayCoverage[], from: string, to: string): DayCoverage[] {
  const known = new Map(days.map((one) => [one.day, one]));
  const count = Math.ceil((Date.parse(to) - Date.parse(from)) / 86_400_000);
  return Array.from({ length: Math.max(count, 0) }, (_, at) => {
    const day = new Date(Date.parse(from) + at * 86_400_000).toISOString().slice(0, 10);
    return known.get(day) ?? { day, covered_ms: 0, missing_ms: 0, fetchable_ms: 0 };
  });
}

/** The field of a day. Its states have the colors of the states of nodes. */
function DayField({ day, ...place }: FieldPlace & { readonly day: DayCoverage }) {
  const { covered_ms, missing_ms, fetchable_ms } = day;
  const states = { up: covered_ms, maintenance: fetchable_ms, down: missing_ms - fetchable_ms, unknown: 0 };
  return <StateBar of={states} title={dayWords(day)} {...place} />;
}

const LEGEND = {
  up: 'covered',
  maintenance: 'missing, can still be fetched',
  down: 'permanently missing',
} as const;

/**
 * A strip of days in chronological order. There may be thousands of days, so all covered days are drawn as
 * one path, and all days without a record as another one.
 */
export function DayStrip({ days }: { readonly days: readonly DayCoverage[] }) {
  const [step, wide, tall] = [4, 3.4, 16];
  const states = days.map(stateOfDay);
  const all = (selected: DayState, height: number) =>
    states
      .flatMap((state, at) =>
        state === selected ? [`M${at * step} ${tall - height}h${wide}v${height}h-${wide}z`] : [],
      )
      .join('');
  return (
    <svg
      class="states strip"
      viewBox={`0 0 ${Math.max(days.length * step, 1)} ${tall}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="up" d={all('covered', tall)} />
      <path class="unrecorded" d={all('none', 2)} />
      {days.map((day, at) =>
        day.missing_ms > 0 ? <DayField day={day} x={at * step} y={0} width={wide} height={tall} /> : null,
      )}
    </svg>
  );
}

const DAY = 86_400_000;
/** Maximum number of days in the table. The newest days are displayed. */
const MAX_TABLE_DAYS = 400;

/** The days of all targets together, as a calendar and as a table. */
export function DaysOfAll({ record }: { readonly record: CoverageRecord }) {
  const { days } = record.coverage;
  const alone = (day: string) => {
    const to = new Date(Date.parse(day) + DAY).toISOString().slice(0, 10);
    return changedAddress(record, { from: day, to });
  };
  const states = days.map(dayOf);
  const words = `${countText(days.length, 'day')}: ${daysWords(states)}.`;
  return (
    <section aria-labelledby="days">
      <div class="head">
        <h2 id="days">{words}</h2>
        <Legend meanings={LEGEND} none="no record: nothing recorded or expected" />
      </div>
      <Calendar
        label={words}
        days={states.map((day) => ({
          at: Date.parse(day.day),
          href: alone(day.day),
          draw: (place) => <DayField day={day} {...place} />,
        }))}
      />
      <details>
        <summary>Table of days</summary>
        <Table
          caption="Days"
          columns={columns(alone)}
          rows={days.toReversed().slice(0, MAX_TABLE_DAYS)}
          empty="No days in this range."
        />
        {days.length > MAX_TABLE_DAYS && (
          <p class="soft">Only the newest {MAX_TABLE_DAYS} days are shown; the CSV file contains all.</p>
        )}
      </details>
    </section>
  );
}

const columns = (alone: (day: string) => string): readonly TableColumn<CoverageDay>[] => [
  { name: 'Day', cell: ({ day }) => <a href={alone(day)}>{day}</a> },
  {
    name: 'State',
    cell: ({ state }) => <StateBadge is={state === 'none' ? 'no record' : state} />,
  },
  {
    name: 'Missing',
    about: 'Summed over the targets.',
    kind: 'number',
    cell: ({ missing_ms }) => (missing_ms === 0 ? '–' : durationWords(missing_ms / 1000)),
  },
  { name: 'Targets', kind: 'number', cell: ({ targets }) => numberText(targets) },
  {
    name: 'Reason',
    kind: 'wide',
    cell: ({ reasons }) => reasons.map(({ reason }) => reason).join('; ') || '–',
  },
];
