import type { ReadableDataset } from '../../../../reporting/relations/catalogue.ts';
import type { Coverage, CoverageDay } from '../../../../reporting/relations/coverage-days.ts';
import { Calendar } from '../../parts/calendar.tsx';
import { State } from '../../parts/state.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText, durationWords, numberText } from '../../texts.ts';
import { hrefOf, type Parameters, without } from '../address.ts';
import { pathOf } from '../relation-head.tsx';
import { DayField, DayLegend } from './day-field.tsx';
import { dayOf, daysWords } from './day-words.ts';

const DAY = 86_400_000;
/** Maximum number of days in the table: the newest ones. */
const MAX_TABLE_DAYS = 400;
const TONES = { covered: 'good', partial: 'warn', gap: 'bad', none: 'idle' } as const;

/** The days of all targets together, as a calendar and as a table. */
export function DaysOfAll({
  dataset,
  parameters,
  coverage: { days },
}: {
  readonly dataset: ReadableDataset;
  readonly parameters: Parameters;
  readonly coverage: Coverage;
}) {
  const path = pathOf(dataset.name, 'coverage');
  const alone = (day: string) =>
    hrefOf(path, {
      ...without(parameters, 'after'),
      from: day,
      to: new Date(Date.parse(day) + DAY).toISOString().slice(0, 10),
    });
  const states = days.map(dayOf);
  const words = `Of ${countText(days.length, 'day')}: ${daysWords(states)}.`;
  return (
    <section aria-labelledby="days">
      <div class="head">
        <h2 id="days">{words}</h2>
        <DayLegend />
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
        <summary>The days as a table</summary>
        <Table
          caption="Days"
          columns={columns(alone)}
          rows={days.toReversed().slice(0, MAX_TABLE_DAYS)}
          keyOf={({ day }) => day}
          empty="There are no days in this time."
        />
        {days.length > MAX_TABLE_DAYS && (
          <p class="soft">These are the newest {MAX_TABLE_DAYS} days; CSV has all.</p>
        )}
      </details>
    </section>
  );
}

const columns = (alone: (day: string) => string): readonly Column<CoverageDay>[] => [
  { name: 'Day', cell: ({ day }) => <a href={alone(day)}>{day}</a> },
  {
    name: 'State',
    cell: ({ state }) => (
      <State is={state} tone={TONES[state]}>
        {state === 'none' ? 'no record' : state}
      </State>
    ),
  },
  {
    name: 'Missing',
    about: 'Summed over the targets.',
    kind: 'number',
    cell: ({ missing_ms }) => (missing_ms === 0 ? '–' : durationWords(missing_ms / 1000)),
  },
  { name: 'Targets', kind: 'number', cell: ({ targets }) => numberText(targets) },
  { name: 'Why', kind: 'wide', cell: ({ reasons }) => reasons.map(({ reason }) => reason).join('; ') || '–' },
];
