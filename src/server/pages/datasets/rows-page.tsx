import type postgres from 'postgres';
import { parseInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import { FEED } from '../../../reporting/relations/feed.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import { countRows, type RowCount } from '../../../reporting/relations/row-count.ts';
import { type RowsPage, readRows, rowsSql } from '../../../reporting/relations/rows.ts';
import type { Content, PageDefinition, Redirect } from '../page.ts';
import { FormField } from '../parts/fields.tsx';
import { queryLink } from '../query/query-parameters.ts';
import { agoText, countText, durationWords, numberText } from '../texts.ts';
import {
  canonicalizeParameters,
  changedAddress,
  hrefOf,
  normalizeParameters,
  type PageAddress,
  rowsAddress,
  singleParameters,
  without,
} from './addresses.ts';
import { ActiveFilters, AsOf, CursorPager, HiddenFields } from './filters.tsx';
import { Formats, PageSql } from './page-data.tsx';
import { NoRecord, recordedSince, relationContent, relationPath } from './relation-head.tsx';
import {
  catalogue,
  datasetOf,
  parseAsOf,
  parseRequestedRows,
  pastSupportOf,
  type RequestedRows,
} from './relations.ts';
import { filtersOfRows, RowsTable, type TableLocation } from './rows-table.tsx';

/** Returns the parameters of a function, except the moment, which has a separate form. */
const formParametersOf = ({ parameters }: Relation) =>
  (parameters ?? []).filter(({ name }) => name !== 'as_of');

/**
 * Returns whether to call a function. False if the function has required parameters, and the request contains
 * no parameter of the form at all: the page then contains only the form.
 */
const canCallFunction = (relation: Relation, params: Readonly<Record<string, unknown>>): boolean => {
  const parameters = formParametersOf(relation);
  return (
    parameters.every(({ preset }) => preset !== undefined) ||
    parameters.some(({ name }) => params[name] !== undefined)
  );
};

function FunctionForm({
  relation,
  place: { path, parameters },
}: {
  readonly relation: Relation;
  readonly place: PageAddress;
}) {
  const formParameters = formParametersOf(relation);
  if (formParameters.length === 0) return null;
  return (
    <form class="filters" method="get" action={path}>
      <HiddenFields of={without(parameters, 'after', ...formParameters.map(({ name }) => name))} />
      {formParameters.map(({ name, type, comment, preset }) => (
        <FormField
          id={`parameter-${name}`}
          label={
            <span title={comment}>
              <code>{name}</code>
              {preset === undefined ? '' : '  (optional)'}
            </span>
          }
          name={name}
          type={type}
          value={parameters[name] ?? ''}
          required={preset === undefined}
        />
      ))}
      <button type="submit">Run</button>
    </form>
  );
}

/** `/datasets/D`: the rows of a dataset, of another view, or of a function. */
export const rowsPage: PageDefinition = {
  path: '/datasets/:relation',
  async answer({ read, clock }, params) {
    const { relation: name, ...fields } = params;
    const relation = catalogue.views.get(String(name));
    if (!relation) return fileOf(String(name), fields);
    if (relation.name === FEED) return { location: queryLink({ sql: `select * from ${FEED}(null, 100)` }) };
    const tidied = canonicalizeParameters(relationPath(String(name)), fields);
    if ('location' in tidied) return tidied;
    if (!canCallFunction(relation, tidied.normalized)) return parameterPage(relation, tidied.normalized);
    const rows = parseRequestedRows(relation, tidied.normalized);
    const dataset = datasetOf(relation);
    const found = await read(async (sql) => {
      const since = dataset && rows.asOf !== null ? await recordedSince(sql, dataset) : undefined;
      if (dataset && since === null)
        return {
          page: { rows: [], next: null },
          count: null,
          empty: await explainNoRows(sql, relation, dataset, clock()),
        };
      if (since && isAfter(since, rows.asOf)) return { since };
      const page = await readRows(sql, relation, rows.query);
      const count = await countRows(sql, relation, rows.query);
      const isWhole = rows.asOf === null && rows.query.filters.length === 0 && page.rows.length === 0;
      const empty = dataset && isWhole ? await explainNoRows(sql, relation, dataset, clock()) : 'No rows.';
      return { page, count, empty };
    });
    return 'since' in found ? early(relation, rows, found.since) : content(relation, rows, found, clock());
  },
};

const isAfter = (one: string, other: string | null) =>
  (parseInstant(one) ?? 0) > (parseInstant(other ?? '') ?? Number.POSITIVE_INFINITY);

/** `/datasets/D.csv` and others: redirects to the rows in the API. */
function fileOf(file: string, params: Readonly<Record<string, unknown>>): Redirect | null {
  const [, name = '', form] = /^(\w+)\.(json|csv)$/.exec(file) ?? [];
  const relation = catalogue.views.get(name);
  const parameters = singleParameters(normalizeParameters(params));
  if (!relation || !parameters || (form !== 'json' && form !== 'csv')) return null;
  return { location: rowsAddress(relation, parameters, pastSupportOf(relation), form) };
}

function content(
  relation: Relation,
  rows: RequestedRows,
  {
    page,
    count,
    empty,
  }: { readonly page: RowsPage; readonly count: RowCount | null; readonly empty: string },
  now: number,
): Content {
  const { parameters, query, asOf } = rows;
  const path = relationPath(relation.name);
  const visibleColumns = query.columns.map(({ name }) => name);
  const place: TableLocation = { relation, path, parameters, visibleColumns };
  return relationContent(
    relation,
    'rows',
    parameters,
    relation.name,
    <>
      <AsOf place={place} asOf={asOf} note={pastNote(rows)} />
      <FunctionForm relation={relation} place={place} />
      <section aria-label="Rows">
        <div class="head">
          <p>
            {countWords(count, page)}
            <span class="soft">
              {' '}
              Click a column header to sort. Its ⋯ menu describes the column and filters the rows.
            </span>
          </p>
          <p class="actions">
            <Formats address={(form) => rowsAddress(relation, parameters, rows.past, form)} />
            {asOf === null && rows.past.kind === 'known' && (
              <a
                href={hrefOf(path, { ...parameters, as_of: query.args.as_of ?? new Date(now).toISOString() })}
                title="A link that shows the same rows at any time"
              >
                Permanent link
              </a>
            )}
          </p>
        </div>
        <ActiveFilters filters={filtersOfRows(relation)} place={place} />
        <RowsTable place={place} dataset={datasetOf(relation)} query={query} rows={page.rows} empty={empty} />
        <CursorPager place={place} next={page.next} label={`Next ${query.limit}`} />
      </section>
      <AboutColumns place={place} />
      <PageSql sql={rowsSql(relation, query)} />
    </>,
  );
}

/** The page for a moment before the first recording. */
function early(relation: Relation, { parameters, asOf }: RequestedRows, since: string): Content {
  const place = { path: relationPath(relation.name), parameters };
  return relationContent(
    relation,
    'rows',
    parameters,
    relation.name,
    <>
      <AsOf place={place} asOf={asOf} />
      <NoRecord dataset={relation.dataset ?? relation.name} since={since}>
        <a href={changedAddress(place, { as_of: since })}>show the data of that time</a>, or{' '}
        <a href={changedAddress(place, { as_of: null })}>show the current data</a>
      </NoRecord>
    </>,
  );
}

/** The page of a function that is not called yet, because the request contains no parameters. */
function parameterPage(relation: Relation, params: Readonly<Record<string, unknown>>): Content {
  const place = { path: relationPath(relation.name), parameters: singleParameters(params) ?? {} };
  return relationContent(
    relation,
    'rows',
    place.parameters,
    relation.name,
    <>
      {pastSupportOf(relation).kind === 'known' && <AsOf place={place} asOf={parseAsOf(params)} />}
      <p>This function requires parameters.</p>
      <FunctionForm relation={relation} place={place} />
    </>,
  );
}

function pastNote({ past }: RequestedRows): string | undefined {
  if (past.kind === 'known') return undefined;
  return past.kind === 'since'
    ? `Rows with ${past.column} up to that moment are shown, with their current values.`
    : 'Past states of this view are not stored. The current rows are shown.';
}

function countWords(count: RowCount | null, { rows, next }: RowsPage): string {
  if (count === null)
    return next === null ? '' : `${numberText(rows.length)} rows on this page; more follow.`;
  const { rows: all, exact } = count;
  return `${exact ? '' : 'About '}${numberText(exact ? all : roughly(all))} ${all === 1 ? 'row' : 'rows'}.`;
}

/** Rounds an estimate to two digits, because further digits are not accurate. */
const roughly = (estimate: number) => Number(estimate.toPrecision(2));

/** The meaning of each column, and a form to select the displayed columns. */
function AboutColumns({
  place: { relation, path, parameters, visibleColumns },
}: {
  readonly place: TableLocation;
}) {
  const hidden = relation.columns.length - visibleColumns.length;
  return (
    <details class="about-columns">
      <summary>
        {relation.columns.length} columns with descriptions{hidden > 0 ? `; ${hidden} hidden` : ''}
      </summary>
      <form method="get" action={path}>
        <HiddenFields of={without(parameters, 'columns')} />
        <ul>
          {relation.columns.map(({ name, type, comment }) => (
            <li>
              <label>
                <input type="checkbox" name="columns" value={name} checked={visibleColumns.includes(name)} />{' '}
                <code>{name}</code>
              </label>{' '}
              <span class="soft">{type}</span> {comment}
            </li>
          ))}
        </ul>
        <button type="submit">Show the selected columns</button>
      </form>
    </details>
  );
}

interface Recording {
  readonly targets: number;
  readonly polled: number;
  readonly failing: number;
  readonly last_success_at: Date | null;
  readonly error: string | null;
  readonly has_written: boolean | null;
}

/**
 * Returns a text about the reason why a view of a dataset has no rows, and the interval of the recording.
 * @param now ms since 1970
 */
async function explainNoRows(
  sql: postgres.Sql,
  relation: Relation,
  dataset: DatasetRelations,
  now: number,
): Promise<string> {
  const [found] = await sql<Recording[]>`
    select count(*)::int as targets, count(f.last_success_at)::int as polled,
      count(*) filter (where f.last_success_at is null and f.last_failure is not null)::int as failing,
      max(f.last_success_at) as last_success_at, max(f.last_failure) as error, bool_or(f.rows_written > 0) as has_written
    from reporting.freshness f where f.dataset = ${dataset.name}`;
  const every = `recorded every ${durationWords(dataset.every / 1000)}`;
  if (!found || found.targets === 0)
    return 'No rows: the configuration does not record this dataset. docs/reference/datasets describes what each dataset needs.';
  if (found.polled > 0)
    return `No rows${describeRecorded(found, relation, dataset)}. Last poll ${agoText(found.last_success_at?.getTime() ?? now, now)}; ${every}.`;
  if (found.failing > 0)
    return `No rows yet: ${countText(found.failing, 'target')} failed and will be retried. Error: ${found.error}`;
  return `No rows yet: the first polls of ${countText(found.targets, 'target')} are in progress. Rows appear within minutes; then ${every}.`;
}

/** Other views of a dataset may be empty although its rows are current, such as the list of a column. */
function describeRecorded({ has_written }: Recording, { name }: Relation, dataset: DatasetRelations): string {
  if (!has_written) return ': the upstream returned none so far';
  return name === dataset.name || name === dataset.now.name
    ? ': all recorded rows have ended or were removed'
    : '';
}
