import { z } from 'zod';
import {
  breaksIn,
  type Discrepancy,
  type DiscrepancyCount,
  discrepancyCounts,
  discrepancyPage,
  type SeriesBreak,
} from '../../reporting/reports/discrepancies.ts';
import { Formats } from './datasets/formats.tsx';
import { definePage } from './page.ts';
import { id, linkTo, oneOf, optional } from './page-queries.ts';
import { Filters, SelectField } from './parts/filters.tsx';
import { Older } from './parts/older.tsx';
import { State } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';
import { Time } from './parts/time.tsx';
import { momentText, numberText } from './texts.ts';

const PATH = '/discrepancies';
const STATES = ['standing', 'ended'] as const;
const YEAR = 365 * 86_400_000;
/** Maximum number of changes of level on the page. */
const MAX_BREAKS = 50;

/** `/discrepancies`: contradictions between sources, and days on which a metric changed its level. */
export const discrepancies = definePage({
  path: PATH,
  asked: z.strictObject({
    state: optional(oneOf(STATES)),
    check: optional(
      z.string().regex(/^[a-z0-9_]{1,60}$/, 'must be the name of a check, such as metric_parts'),
    ),
    before: optional(id),
  }),
  read: ({ read, clock }, asked) =>
    read(async (sql) => ({
      counts: await discrepancyCounts(sql),
      page: await discrepancyPage(sql, asked),
      breaks: await breaksIn(sql, { from: clock() - YEAR, to: null }, MAX_BREAKS + 1),
    })),
  content: ({ counts, page: { found, next }, breaks }, asked) => ({
    title: 'Discrepancies',
    body: (
      <>
        <section class="stack">
          <h1>Discrepancies</h1>
          <p class="soft">
            Differences above the tolerance between two sources, or between two responses of one source.
            Compared once an hour. The recorder does not decide which source is right.
          </p>
          {counts.length > 0 && <Counts counts={counts} />}
          <Filters path={PATH}>
            <SelectField name="state" label="State" value={asked.state} words={STATES} />
            <SelectField
              name="check"
              label="Check"
              value={asked.check}
              words={[
                ...new Set([
                  ...counts.map(({ check_name }) => check_name),
                  ...(asked.check ? [asked.check] : []),
                ]),
              ]}
            />
          </Filters>
          <Table
            stacked
            caption="Discrepancies, newest first"
            columns={columns}
            rows={found}
            keyOf={(one) => one.id}
            empty={
              asked.state || asked.check || asked.before
                ? 'No discrepancy matches.'
                : 'The sources agree, as far as they were compared.'
            }
          />
          <Older href={next === null ? null : linkTo(PATH, { ...asked, before: next })} />
          <p class="actions">
            <Formats address={(form) => linkTo(`${PATH}.${form}`, asked)} />
          </p>
        </section>
        <section class="stack" aria-labelledby="breaks">
          <h2 id="breaks">Changes of level, last year</h2>
          <p class="soft">
            Days on which a daily metric changed abruptly and permanently, for example because its definition
            changed. The numbers alone do not show the cause.
          </p>
          <Table
            caption="Changes of level"
            columns={breakColumns}
            rows={breaks.slice(0, MAX_BREAKS)}
            keyOf={({ chain_id, metric, broke_at }) => `${chain_id} ${metric} ${broke_at.getTime()}`}
            empty="No metric changed its level. A change is detected after three weeks."
          />
          {breaks.length > MAX_BREAKS && (
            <p>
              These are the newest {MAX_BREAKS}:{' '}
              <a href={linkTo('/datasets/series_breaks', { sort: '-broke_at' })}>all of them</a>.
            </p>
          )}
        </section>
      </>
    ),
  }),
});

function Counts({ counts }: { readonly counts: readonly DiscrepancyCount[] }) {
  return (
    <ul class="chips">
      {counts.map(({ check_name, standing, found_today }) => (
        <li key={check_name}>
          <a href={linkTo(PATH, { state: 'standing', check: check_name })}>{check_name}</a>{' '}
          {numberText(standing)}
          {found_today > 0 && <span class="soft">, {numberText(found_today)} new within a day</span>}
        </li>
      ))}
    </ul>
  );
}

const said = (source: string, value: string) => (
  <>
    <div>{value}</div>
    <div class="soft small">{source}</div>
  </>
);

const columns: readonly Column<Discrepancy>[] = [
  {
    name: 'State',
    cell: ({ ended_at }) => <State is={ended_at ? 'ended' : 'stands'} tone={ended_at ? 'idle' : 'warn'} />,
  },
  { name: 'Check', evident: true, cell: ({ check_name }) => check_name },
  { name: 'About', kind: 'wide', cell: ({ subject }) => <code>{subject}</code> },
  {
    name: 'Of',
    about: 'The compared hour, day, block or reading.',
    cell: ({ at }) => momentText(at),
  },
  { name: 'One says', kind: 'wide', cell: ({ left_source, left_value }) => said(left_source, left_value) },
  {
    name: 'Value of the other source',
    kind: 'wide',
    cell: ({ right_source, right_value }) => said(right_source, right_value),
  },
  {
    name: 'Apart',
    about: 'The difference as a share of the larger value.',
    kind: 'number',
    cell: ({ relative_difference }) =>
      relative_difference === null ? '–' : `${(Number(relative_difference) * 100).toFixed(2)} %`,
  },
  { name: 'Tolerated', kind: 'name', cell: ({ tolerance }) => tolerance },
  { name: 'Found', cell: ({ found_at }) => <Time at={found_at} /> },
  { name: 'Ended', cell: ({ ended_at }) => <Time at={ended_at} /> },
];

const breakColumns: readonly Column<SeriesBreak>[] = [
  { name: 'Metric', cell: ({ metric }) => <code>{metric}</code> },
  { name: 'Chain', cell: ({ chain_id }) => chain_id },
  { name: 'First day', cell: ({ broke_at }) => broke_at.toISOString().slice(0, 10) },
  { name: 'Before', kind: 'number', cell: ({ level_before }) => numberText(level_before) },
  { name: 'After', kind: 'number', cell: ({ level_after }) => numberText(level_after) },
  { name: 'Times', kind: 'number', cell: ({ ratio }) => ratio ?? '–' },
  {
    name: 'Strength',
    about: 'The change as a multiple of the usual change from week to week.',
    kind: 'number',
    cell: ({ strength }) => strength,
  },
  { name: 'Found', cell: ({ found_at }) => <Time at={found_at} /> },
];
