import type postgres from 'postgres';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import type { ReportingRelation } from '../../../reporting/relations/readable.ts';
import { countRows, type RowCount } from '../../../reporting/relations/row-count.ts';
import { type RowsPage, readRows, rowsSql } from '../../../reporting/relations/rows.ts';
import type { Content, Page, Redirect } from '../page.ts';
import { agoText, countText, durationWords, numberText } from '../texts.ts';
import { ActiveFilters } from './active-filters.tsx';
import { hrefOf, keepAsOf, normalizeParameters, parametersOf, without } from './address.ts';
import { rowsAddress } from './api-address.ts';
import { AsOf } from './as-of.tsx';
import { canonicalizeParameters } from './canonical-address.ts';
import { filtersOfRows, type TableLocation } from './column-menu.tsx';
import { FilterField } from './filter-field.tsx';
import { Formats } from './formats.tsx';
import { HiddenFields } from './hidden-fields.tsx';
import { NoRecord, recordStartAfter } from './no-record.tsx';
import { PageSql } from './page-sql.tsx';
import { pathOf, RelationHead } from './relation-head.tsx';
import { type Relation, relationNamed } from './relations.ts';
import { parseAsOf, parseRequestedRows, pastSupportOf, type RequestedRows } from './requested-rows.ts';
import { RowsTable } from './rows-table.tsx';

/** Returns whether a function can be called: it has no required parameters, or some parameter was given. */
const canCallFunction = (
  { parameters }: ReportingRelation,
  given: Readonly<Record<string, unknown>>,
): boolean => {
  const needed = (parameters ?? []).filter(({ preset }) => preset === undefined);
  return needed.length === 0 || (parameters ?? []).some(({ name }) => given[name] !== undefined);
};

/** The form for the parameters of a function. The moment of `as_of` has a form of its own. */
function FunctionForm({
  place: { readable, path, parameters },
}: {
  readonly place: Omit<TableLocation, 'shown'>;
}) {
  const taken = (readable.parameters ?? []).filter(({ name }) => name !== 'as_of');
  if (taken.length === 0) return null;
  return (
    <form class="filters" method="get" action={path}>
      <HiddenFields of={without(parameters, 'after', ...taken.map(({ name }) => name))} />
      {taken.map(({ name, type, comment, preset }) => (
        <FilterField
          key={name}
          id={`parameter-${name}`}
          label={
            <span title={comment}>
              <code>{name}</code>
              {preset === undefined ? '' : ' (may stay empty)'}
            </span>
          }
          name={name}
          type={type}
          value={parameters[name] ?? ''}
          required={preset === undefined}
        />
      ))}
      <button type="submit">Ask</button>
    </form>
  );
}

/** `/datasets/D`: the rows of a dataset, of another view, or of a function. */
export const rowsPage: Page = {
  path: '/datasets/:relation',
  async answer({ read, clock }, asked) {
    const { relation: name, ...given } = asked;
    const relation = relationNamed(String(name));
    if (!relation) return fileOf(String(name), given);
    const tidied = canonicalizeParameters(pathOf(String(name)), given);
    if ('location' in tidied) return tidied;
    if (!canCallFunction(relation.readable, tidied.given)) return unasked(relation, tidied.given);
    const rows = parseRequestedRows(relation.readable, tidied.given);
    const { dataset, readable } = relation;
    const found = await read(async (sql) => {
      const since = await recordStartAfter(sql, dataset, rows.asOf);
      if (since !== null) return { since };
      const page = await readRows(sql, readable, rows.question);
      const count = await countRows(sql, readable, rows.question);
      const isWhole = rows.asOf === null && rows.question.filters.length === 0 && page.rows.length === 0;
      const empty = dataset && isWhole ? await explainNoRows(sql, dataset, clock()) : 'No rows.';
      return { page, count, empty };
    });
    return 'since' in found ? early(relation, rows, found.since) : content(relation, rows, found, clock());
  },
};

/** `/datasets/D.csv` and others: redirects to the rows in the API. */
function fileOf(file: string, given: Readonly<Record<string, unknown>>): Redirect | null {
  const [, name = '', form] = /^(\w+)\.(json|csv)$/.exec(file) ?? [];
  const relation = relationNamed(name);
  const parameters = parametersOf(normalizeParameters(given));
  if (!relation || !parameters || (form !== 'json' && form !== 'csv')) return null;
  return { location: rowsAddress(relation, parameters, pastSupportOf(relation.readable), form) };
}

const crumbs = ({ parameters }: Pick<RequestedRows, 'parameters'>) => [
  { href: hrefOf('/datasets', keepAsOf(parameters)), label: 'Data' },
];

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
  const { readable, dataset } = relation;
  const { parameters, question, asOf } = rows;
  const path = pathOf(readable.name);
  const shown = question.columns.map(({ name }) => name);
  const place: TableLocation = { readable, path, parameters, shown };
  return {
    title: readable.name,
    crumbs: crumbs(rows),
    islands: ['copy'],
    body: (
      <>
        <RelationHead relation={relation} tab="rows" parameters={parameters} />
        <AsOf path={path} parameters={parameters} asOf={asOf} note={pastNote(rows)} />
        <FunctionForm place={place} />
        <section aria-label="Rows">
          <div class="head">
            <p>
              {countWords(count, page)}
              <span class="soft"> A column header sorts; its ⋯ menu explains and filters.</span>
            </p>
            <p class="actions">
              <Formats address={(form) => rowsAddress(relation, parameters, rows.past, form)} />
              {asOf === null && rows.past.kind === 'known' && (
                <a
                  href={hrefOf(path, { ...parameters, as_of: new Date(now).toISOString() })}
                  title="A link that shows the same rows at any time"
                >
                  Permanent link
                </a>
              )}
            </p>
          </div>
          <ActiveFilters filters={filtersOfRows(readable)} path={path} parameters={parameters} />
          <RowsTable place={place} dataset={dataset} question={question} rows={page.rows} empty={empty} />
          <Pager place={place} next={page.next} limit={question.limit} />
        </section>
        <AboutColumns place={place} />
        <PageSql sql={rowsSql(readable, question)} />
      </>
    ),
  };
}

/** The page for a moment before the first recording. */
function early(relation: Relation, { parameters, asOf }: RequestedRows, since: string): Content {
  const { readable } = relation;
  const path = pathOf(readable.name);
  return {
    title: readable.name,
    crumbs: crumbs({ parameters }),
    body: (
      <>
        <RelationHead relation={relation} tab="rows" parameters={parameters} />
        <AsOf path={path} parameters={parameters} asOf={asOf} />
        <NoRecord dataset={relation.dataset?.name ?? readable.name} since={since}>
          <a href={hrefOf(path, { ...parameters, as_of: since })}>show what was known then</a>, or{' '}
          <a href={hrefOf(path, without(parameters, 'as_of'))}>what is known now</a>
        </NoRecord>
      </>
    ),
  };
}

/** The page of a function whose required parameters were not given yet. */
function unasked(relation: Relation, given: Readonly<Record<string, unknown>>): Content {
  const { readable } = relation;
  const path = pathOf(readable.name);
  const parameters = parametersOf(given) ?? {};
  return {
    title: readable.name,
    crumbs: crumbs({ parameters }),
    body: (
      <>
        <RelationHead relation={relation} tab="rows" parameters={parameters} />
        {pastSupportOf(readable).kind === 'known' && (
          <AsOf path={path} parameters={parameters} asOf={parseAsOf(given)} />
        )}
        <p>This function needs parameters:</p>
        <FunctionForm place={{ readable, path, parameters }} />
      </>
    ),
  };
}

function pastNote({ past }: RequestedRows): string | undefined {
  if (past.kind === 'known') return undefined;
  return past.kind === 'since'
    ? `These are the rows with ${past.column} up to that moment; values of these rows about later moments are included.`
    : 'Earlier rows of this view are not stored: these are the current rows.';
}

function countWords(count: RowCount | null, { rows, next }: RowsPage): string {
  if (count === null) return next === null ? '' : `${numberText(rows.length)} rows on this page, and more.`;
  const { rows: all, exact } = count;
  return `${exact ? '' : 'About '}${numberText(exact ? all : roughly(all))} ${all === 1 ? 'row' : 'rows'}.`;
}

/** Rounds an estimate to two digits; more would suggest a precision that it does not have. */
const roughly = (estimate: number) => Number(estimate.toPrecision(2));

function Pager({
  place: { path, parameters },
  next,
  limit,
}: {
  readonly place: TableLocation;
  readonly next: string | null;
  readonly limit: number;
}) {
  const isFirst = parameters.after === undefined;
  if (isFirst && next === null) return null;
  return (
    <nav class="actions" aria-label="Pages">
      {!isFirst && <a href={hrefOf(path, without(parameters, 'after'))}>First page</a>}
      {next === null ? (
        <span class="soft">This is the last page.</span>
      ) : (
        <a class="button" rel="next" href={hrefOf(path, { ...parameters, after: next })}>
          Next {limit}
        </a>
      )}
    </nav>
  );
}

/** The meaning of each column, and a form to select the displayed ones. */
function AboutColumns({ place: { readable, path, parameters, shown } }: { readonly place: TableLocation }) {
  const hidden = readable.columns.length - shown.length;
  return (
    <details class="about-columns">
      <summary>
        {readable.columns.length} columns and their meaning{hidden > 0 ? `; ${hidden} hidden` : ''}
      </summary>
      <form method="get" action={path}>
        <HiddenFields of={without(parameters, 'columns')} />
        <ul>
          {readable.columns.map(({ name, type, comment }) => (
            <li key={name}>
              <label>
                <input type="checkbox" name="columns" value={name} checked={shown.includes(name)} />{' '}
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
}

/**
 * Describes why a dataset has no rows, and when its rows are expected.
 * @param now in ms since 1970
 */
async function explainNoRows(sql: postgres.Sql, dataset: ReadableDataset, now: number): Promise<string> {
  const [found] = await sql<Recording[]>`
    select count(*)::int as targets, count(f.last_success_at)::int as polled,
      count(*) filter (where f.last_success_at is null and f.last_failure is not null)::int as failing,
      max(f.last_success_at) as last_success_at, max(f.last_failure) as error
    from reporting.freshness f where f.dataset = ${dataset.name}`;
  const every = `it is recorded every ${durationWords(dataset.every / 1000)}`;
  if (!found || found.targets === 0)
    return 'No rows: the configuration does not record this dataset. docs/reference/datasets describes what each dataset needs.';
  if (found.polled > 0)
    return `No rows: the upstream returned none so far. Last poll ${agoText(found.last_success_at?.getTime() ?? now, now)}; ${every}.`;
  if (found.failing > 0)
    return `No rows yet: ${countText(found.failing, 'target')} failed, and will be retried: ${found.error}`;
  return `No rows yet: the first polls of ${countText(found.targets, 'target')} are under way, and rows appear within seconds to minutes; then ${every}.`;
}
