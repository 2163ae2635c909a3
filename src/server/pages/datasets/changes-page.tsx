import { parseInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import {
  type DifferencesPage,
  type DifferencesQuery,
  differencesFilters,
  differencesParameters,
  differencesSql,
  readDifferences,
} from '../../../reporting/relations/differences.ts';
import { validateParameters } from '../../../reporting/relations/invalid-request.ts';
import type { PageDefinition } from '../page.ts';
import { FormField } from '../parts/fields.tsx';
import { LinkList } from '../parts/link-list.tsx';
import { Empty } from '../parts/table.tsx';
import { countText } from '../texts.ts';
import {
  canonicalizeParameters,
  changedAddress,
  changesAddress,
  hrefOf,
  type PageAddress,
  singleParameters,
  without,
} from './addresses.ts';
import { ChangesTable } from './changes-table.tsx';
import { ActiveFilters, CursorPager, HiddenFields } from './filters.tsx';
import { Formats, PageSql } from './page-data.tsx';
import { NoRecord, recordedSince, relationContent, relationPath } from './relation-head.tsx';
import { catalogue } from './relations.ts';

const HOUR = 3_600_000;
const SPANS = [
  ['an hour', HOUR],
  ['a day', 24 * HOUR],
  ['7 days', 7 * 24 * HOUR],
  ['30 days', 30 * 24 * HOUR],
  ['90 days', 90 * 24 * HOUR],
] as const;

/** The form for the two moments to compare, and for filters. */
function ChangesForm({ of, now }: { readonly of: DifferencesRequest; readonly now: number }) {
  const {
    dataset,
    path,
    parameters,
    query: { from, to },
  } = of;
  const filters = differencesFilters(dataset);
  const offered = filters.filter(({ operator }) => operator === 'eq');
  const own = ['from', 'to', 'after', ...offered.map(({ parameter }) => parameter)];
  const end = to === null ? now : (parseInstant(to) ?? now);
  const begin = parseInstant(from) ?? end;
  return (
    <>
      <form class="filters" method="get" action={path} aria-label="Two moments">
        <HiddenFields of={without(parameters, ...own)} />
        <FormField name="from" label="From (UTC)" type="timestamptz" value={from} required />
        <FormField name="to" label="To (empty: now)" type="timestamptz" value={to ?? ''} />
        {offered.map(({ parameter, column, type }) => (
          <FormField
            id={`of-${column}`}
            name={parameter}
            label={<code>{column}</code>}
            type={type}
            value={parameters[parameter] ?? ''}
          />
        ))}
        <button type="submit">Compare</button>
      </form>
      <LinkList
        class="choices"
        aria-label="Time span"
        links={SPANS.map(([words, span]) => ({
          href: changedAddress(of, { from: new Date(end - span).toISOString() }),
          label: `${words} back`,
          current: Math.abs(end - begin - span) < 2_000 && 'true',
        }))}
      />
      <ActiveFilters filters={filters} place={of} />
    </>
  );
}

const DAY = 86_400_000;

/** The dataset and the parameters of a request for the page. */
interface DifferencesRequest extends PageAddress {
  readonly dataset: DatasetRelations;
  readonly query: DifferencesQuery;
}

/** `/datasets/D/changes`: the differences between two moments, side by side. */
export const changesPage: PageDefinition = {
  path: '/datasets/:relation/changes',
  async answer({ read, clock }, { relation, ...fields }) {
    const dataset = catalogue.datasets.get(String(relation));
    if (!dataset) return null;
    const path = relationPath(dataset.now.name, 'changes');
    const tidied = canonicalizeParameters(path, fields);
    if ('location' in tidied) return tidied;
    const { normalized } = tidied;
    const now = clock();
    const end = typeof normalized.to === 'string' ? (parseInstant(normalized.to) ?? now) : now;
    return read(async (sql) => {
      const since = await recordedSince(sql, dataset);
      const begin = Math.max(end - DAY, since === null ? 0 : Date.parse(since) + 1);
      const from = begin < end ? begin : end - DAY;
      const params =
        normalized.from === undefined ? { from: new Date(from).toISOString(), ...normalized } : normalized;
      const query = validateParameters(differencesParameters(dataset), params);
      const parameters = singleParameters(params) ?? {};
      const view = { path, dataset, parameters, query };
      const isEarly = since !== null && Date.parse(since) > (parseInstant(query.from) ?? 0);
      return relationContent(
        dataset.now,
        'changes',
        parameters.to === undefined ? {} : { as_of: parameters.to },
        `Changes between two moments: ${dataset.name}`,
        <>
          <ChangesForm of={view} now={now} />
          {since === null ? (
            <Empty>{dataset.now.name} has no rows yet.</Empty>
          ) : isEarly ? (
            early(view, since)
          ) : (
            <Differences of={view} page={await readDifferences(sql, dataset, query)} now={now} />
          )}
        </>,
      );
    });
  },
};

/** The body of the page if the first moment is before the first recording. */
const early = (request: DifferencesRequest, since: string) => (
  <NoRecord dataset={request.dataset.name} since={since}>
    <a href={changedAddress(request, { to: null, from: since })}>show the changes since that time</a>
  </NoRecord>
);

function Differences({
  of,
  page: { rows, next },
  now,
}: {
  readonly of: DifferencesRequest;
  readonly page: DifferencesPage;
  readonly now: number;
}) {
  const { path, dataset, parameters, query } = of;
  const fixed = new Date(now).toISOString();
  return (
    <>
      <section aria-label="Differences">
        <div class="head">
          <p>
            {summary(rows, next !== null)}
            <span class="soft"> Rows that changed and then changed back are not listed.</span>
          </p>
          <p class="actions">
            <Formats address={(form) => changesAddress(dataset, parameters, form)} all="all differences" />
            {query.to === null && (
              <a
                href={hrefOf(path, { ...parameters, to: fixed })}
                title="A link that shows the same differences at any time"
              >
                Permanent link
              </a>
            )}
          </p>
        </div>
        <ChangesTable dataset={dataset} query={query} rows={rows} />
        <CursorPager place={of} next={next} label={`Next ${query.limit}`} />
      </section>
      <PageSql sql={differencesSql(dataset, query)} />
    </>
  );
}

function summary(rows: DifferencesPage['rows'], more: boolean): string {
  if (rows.length === 0)
    return more
      ? 'Each row of this page changed and has its old values again. There may be differences on the next page.'
      : 'No differences.';
  const count = (change: string) => rows.filter((row) => row.change === change).length;
  const parts = [
    { words: 'changed', count: count('changed') },
    { words: 'came', count: count('added') },
    { words: 'left', count: count('left') },
  ].flatMap((part) => (part.count > 0 ? [`${part.count} ${part.words}`] : []));
  const where = more ? ' on this page; more on the next page' : '';
  return `${countText(rows.length, 'row differs', 'rows differ')}${where}: ${parts.join(', ')}.`;
}
