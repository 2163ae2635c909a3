import { z } from 'zod';
import {
  breaksIn,
  type ComparisonState,
  comparisonStates,
  type Discrepancy,
  type DiscrepancyCount,
  discrepancyCounts,
  discrepancyPage,
  type SeriesBreak,
} from '../../reporting/reports/discrepancies.ts';
import { hrefOf } from './datasets/addresses.ts';
import { Formats } from './datasets/page-data.tsx';
import { definePage } from './page.ts';
import { id, oneOf, optionalParam } from './page-parameters.ts';
import { ANY, Filters, FormField } from './parts/fields.tsx';
import { Pager } from './parts/pager.tsx';
import { StateBadge } from './parts/state.tsx';
import { Table, type TableColumn } from './parts/table.tsx';
import { Time } from './parts/time.tsx';
import { momentText, numberText } from './texts.ts';

const PATH = '/discrepancies';
const STATES = ['open', 'ended'] as const;
const YEAR = 365 * 86_400_000;
/** Maximum number of level shifts on the page. */
const MAX_BREAKS = 50;

/** `/discrepancies`: differences between sources, and level shifts of metrics. */
export const discrepanciesPage = definePage({
  path: PATH,
  params: z.strictObject({
    state: optionalParam(oneOf(STATES)),
    check: optionalParam(
      z.string().regex(/^[a-z0-9_]{1,60}$/, 'must be the name of a check, such as metric_parts'),
    ),
    before: optionalParam(id),
  }),
  read: ({ read, clock }, params) =>
    read(async (sql) => ({
      counts: await discrepancyCounts(sql),
      page: await discrepancyPage(sql, params),
      comparisons: await comparisonStates(sql),
      breaks: await breaksIn(sql, { from: clock() - YEAR, to: null }, MAX_BREAKS + 1),
    })),
  content: ({ counts, page: { found, next }, comparisons, breaks }, params) => ({
    title: 'Discrepancies',
    body: (
      <>
        <section class="stack">
          <h1>Discrepancies</h1>
          <p class="soft">
            Differences above the tolerance between two sources, or between two responses of one source. The
            sources are compared once an hour. The recorder does not decide which source is right.
          </p>
          <FailedComparisons of={comparisons} />
          {counts.length > 0 && <Counts counts={counts} />}
          <Filters path={PATH}>
            <FormField name="state" label="State" value={params.state} options={[ANY, ...STATES]} />
            <FormField
              name="check"
              label="Check"
              value={params.check}
              options={[
                ANY,
                ...new Set([
                  ...counts.map(({ check_name }) => check_name),
                  ...(params.check ? [params.check] : []),
                ]),
              ]}
            />
          </Filters>
          <Table
            stacked
            caption="Discrepancies, newest first"
            columns={columns}
            rows={found}
            empty={
              params.state || params.check || params.before
                ? 'No matching discrepancies.'
                : noneText(comparisons)
            }
          />
          <Pager next={next === null ? null : hrefOf(PATH, { ...params, before: next })} />
          <p class="actions">
            <Formats address={(form) => hrefOf(`${PATH}.${form}`, params)} />
          </p>
        </section>
        <section class="stack" aria-labelledby="breaks">
          <h2 id="breaks">Level shifts in the last year</h2>
          <p class="soft">
            Days on which a daily metric changed abruptly and permanently, for example because its definition
            changed. The numbers alone do not show the cause.
          </p>
          <Table
            caption="Level shifts"
            columns={breakColumns}
            rows={breaks.slice(0, MAX_BREAKS)}
            empty="No level shifts. A level shift is detected after three weeks."
          />
          {breaks.length > MAX_BREAKS && (
            <p>
              Only the newest {MAX_BREAKS} are shown.{' '}
              <a href={hrefOf('/datasets/series_breaks', { sort: '-broke_at' })}>Show all</a>
            </p>
          )}
        </section>
      </>
    ),
  }),
});

function noneText(comparisons: readonly ComparisonState[]): string {
  if (comparisons.length === 0)
    return 'No comparison has run yet: the first one runs two minutes after the start of the recorder.';
  return comparisons.some(({ failed_since }) => failed_since !== null)
    ? 'No discrepancies in the completed comparisons.'
    : 'No discrepancies: all compared values agree.';
}

/** The first failed comparison, and the number of the others. */
function FailedComparisons({ of }: { readonly of: readonly ComparisonState[] }) {
  const [first, ...others] = of.filter(({ failed_since }) => failed_since !== null);
  if (!first) return null;
  const { scope, failed_since, error } = first;
  return (
    <p>
      <StateBadge is="failed" /> The comparison of{' '}
      {scope === 'nodes' ? 'the nodes' : `the metrics of chain ${scope}`} failed first{' '}
      <Time at={failed_since} />, and has not been completed since: {error}.
      {others.length > 0 && ` ${numberText(others.length)} more comparisons failed.`}
    </p>
  );
}

function Counts({ counts }: { readonly counts: readonly DiscrepancyCount[] }) {
  return (
    <ul class="chips">
      {counts.map(({ check_name, open, found_today }) => (
        <li>
          <a href={hrefOf(PATH, { state: 'open', check: check_name })}>{check_name}</a> {numberText(open)}
          {found_today > 0 && <span class="soft">, {numberText(found_today)} new within a day</span>}
        </li>
      ))}
    </ul>
  );
}

const sourceValue = (source: string, value: string) => (
  <>
    <div>{value}</div>
    <div class="soft small">{source}</div>
  </>
);

const columns: readonly TableColumn<Discrepancy>[] = [
  { name: 'State', cell: ({ ended_at }) => <StateBadge is={ended_at ? 'ended' : 'open'} /> },
  { name: 'Check', cell: ({ check_name }) => check_name },
  { name: 'Subject', kind: 'wide', cell: ({ subject }) => <code>{subject}</code> },
  {
    name: 'Compared time',
    about: 'The compared hour, day, block or reading.',
    cell: ({ at }) => momentText(at),
  },
  {
    name: 'First value',
    kind: 'wide',
    cell: ({ left_source, left_value }) => sourceValue(left_source, left_value),
  },
  {
    name: 'Second value',
    kind: 'wide',
    cell: ({ right_source, right_value }) => sourceValue(right_source, right_value),
  },
  {
    name: 'Difference',
    about: 'The difference as a share of the larger value.',
    kind: 'number',
    cell: ({ relative_difference }) =>
      relative_difference === null ? '–' : `${(Number(relative_difference) * 100).toFixed(2)} %`,
  },
  { name: 'Tolerance', kind: 'name', cell: ({ tolerance }) => tolerance },
  { name: 'Found', cell: ({ found_at }) => <Time at={found_at} /> },
  { name: 'Ended', cell: ({ ended_at }) => <Time at={ended_at} /> },
];

const breakColumns: readonly TableColumn<SeriesBreak>[] = [
  { name: 'Metric', cell: ({ metric }) => <code>{metric}</code> },
  { name: 'Chain', cell: ({ chain_id }) => chain_id },
  { name: 'First day', cell: ({ broke_at }) => broke_at.toISOString().slice(0, 10) },
  { name: 'Before', kind: 'number', cell: ({ level_before }) => numberText(level_before) },
  { name: 'After', kind: 'number', cell: ({ level_after }) => numberText(level_after) },
  { name: 'Ratio', kind: 'number', cell: ({ ratio }) => ratio ?? '–' },
  {
    name: 'Strength',
    about: 'The change as a multiple of the usual change from week to week.',
    kind: 'number',
    cell: ({ strength }) => strength,
  },
  { name: 'Found', cell: ({ found_at }) => <Time at={found_at} /> },
];
