import type postgres from 'postgres';
import type { ComponentChildren } from 'preact';
import { parseExactInstant, parseInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import { rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Row, readRows } from '../../../reporting/relations/rows.ts';
import { drawables } from '../charts/drawables.ts';
import { chartLink } from '../charts/link.ts';
import type { Content } from '../page.ts';
import { LinkList, type ListedLink } from '../parts/link-list.tsx';
import { ErrorNotice } from '../parts/problem.tsx';
import { ValueText } from '../parts/value.tsx';
import { hrefOf, keepAsOf, type Parameters } from './addresses.ts';
import { datasetOf, viewNamed, viewsOf } from './relations.ts';

type Tab = 'rows' | 'row' | 'changes' | 'coverage';

const HISTORIES: Readonly<Record<string, string>> = {
  series: 'Revisions',
  log: 'Versions',
  state: 'Versions',
  ledger: 'Intervals',
};

export const relationPath = (name: string, page?: Exclude<Tab, 'rows'>) =>
  `/datasets/${name}${page === undefined ? '' : `/${page}`}`;

/**
 * Returns the content of a page of a relation: below its name and description, links to all pages of its
 * dataset.
 */
export function relationContent(
  relation: Relation,
  tab: Tab,
  parameters: Parameters,
  title: string,
  body: ComponentChildren,
): Content {
  const { name, about } = relation;
  const dataset = datasetOf(relation);
  const asOf = keepAsOf(parameters);
  return {
    title,
    crumbs: [
      { href: hrefOf('/datasets', asOf), label: 'Data' },
      ...(tab === 'rows' ? [] : [{ href: hrefOf(relationPath(name), asOf), label: name }]),
    ],
    islands: ['copy'],
    body: (
      <>
        <div class="stack">
          <h1>
            <code>{name}</code> {dataset?.now.name === name && <small>{dataset.kind}</small>}
          </h1>
          <p>{about}</p>
          {dataset && <Tabs of={dataset} here={name} tab={tab} parameters={asOf} />}
          {!dataset && drawables.has(name) && (
            <p>
              <a href={chartOf(name, parameters)}>Chart</a>
            </p>
          )}
        </div>
        {body}
      </>
    ),
  };
}

/** Returns the URL of the chart of a function or of a dataset, with the parameters of the page. */
function chartOf(name: string, parameters: Parameters): string {
  const { keys = [], takes = [], past = false } = drawables.get(name) ?? {};
  const [from, to] = ['from', 'to'].map((one) => {
    const at = parseInstant(parameters[one] ?? '');
    return at === null ? null : new Date(at);
  });
  const things = [...keys, ...takes].flatMap((one) => {
    const value = parameters[one.name];
    return value ? [[one.name, value] as const] : [];
  });
  return chartLink({
    ...{ of: name, selected: Object.fromEntries(things), from: from ?? null, to: to ?? null },
    asOf: past ? parseExactInstant(parameters.as_of ?? '') : null,
  });
}

function Tabs({
  of: dataset,
  here,
  tab,
  parameters,
}: {
  readonly of: DatasetRelations;
  readonly here: string;
  readonly tab: Tab;
  readonly parameters: Parameters;
}) {
  const { merged, history, changes, others } = viewsOf(dataset);
  const rowsOf = (label: string, name: string, about?: string): ListedLink => ({
    label,
    href: hrefOf(relationPath(name), parameters),
    current: tab === 'rows' && here === name && 'page',
    about,
  });
  const { as_of: to = null } = parameters;
  const main: ListedLink[] = [
    ...(merged ? [rowsOf('All nodes together', merged.name, merged.about)] : []),
    rowsOf('Rows', dataset.now.name),
    {
      label: 'Changes between two moments',
      href: hrefOf(relationPath(dataset.now.name, 'changes'), { to }),
      current: tab === 'changes' && 'page',
      about: 'Differences between two moments, side by side.',
    },
    {
      label: 'Coverage',
      href: relationPath(dataset.now.name, 'coverage'),
      current: tab === 'coverage' && 'page',
      about: 'Recorded and missing data by day, and the commands that fetch it.',
    },
    ...(drawables.has(dataset.now.name)
      ? [
          {
            label: 'Chart',
            href: chartOf(dataset.now.name, parameters),
            about: 'The numbers of this dataset over time.',
          },
        ]
      : []),
    ...(history ? [rowsOf(HISTORIES[dataset.kind] ?? 'Versions', history.name, history.about)] : []),
    ...(changes ? [rowsOf('Membership changes', changes.name, changes.about)] : []),
  ];
  return (
    <nav class="tabs" aria-label={`Views of ${dataset.now.name}`}>
      <LinkList links={main} />
      {others.length > 0 && (
        <details open={others.some(({ name }) => name === here)}>
          <summary>{others.length} more views</summary>
          <LinkList links={others.map(({ name, about }) => rowsOf(name, name, about))} />
        </details>
      )}
    </nav>
  );
}

const DAY = 86_400_000;
/** Days before and after a point in its chart, by interval of the metric. */
const DAYS_BY_INTERVAL: Readonly<Record<string, number>> = { hour: 7, day: 45, week: 180, month: 730 };
/** Days before and after a point with a start and an end of its validity in its chart. */
const VALIDITY_DAYS = 45;
/** Days before and after any other point in its chart. */
const DEFAULT_DAYS = 7;

/**
 * Returns the URL of the chart of a row's line, around the time of the row. Returns null if the dataset has
 * no chart, or the row lacks the key of the line.
 * @param asOf the moment of the record; null: now
 * @param beside a second moment, drawn over the first one
 */
export function chartOfRow(
  { now: { name } }: DatasetRelations,
  row: Row,
  asOf: string | null,
  beside: string | null = null,
): string | null {
  const drawable = drawables.get(name);
  if (!drawable) return null;
  const at = Date.parse(String(row[drawable.time.name]));
  const things = drawable.keys.flatMap((column) => {
    const value = row[column.name];
    return value === undefined || value === null ? [] : [[column.name, String(value)] as const];
  });
  const values = new Map(things);
  if (Number.isNaN(at) || drawable.needed.some((column) => !values.has(column))) return null;
  const around =
    (DAYS_BY_INTERVAL[String(row.time_interval)] ?? (drawable.ends ? VALIDITY_DAYS : DEFAULT_DAYS)) * DAY;
  return chartLink({
    of: name,
    selected: Object.fromEntries(values),
    from: new Date(at - around),
    to: new Date(at + around),
    asOf,
    beside,
  });
}

/** Returns the start of the record of a dataset, as ISO 8601; null if nothing was recorded. */
export async function recordedSince(sql: postgres.Sql, { name }: DatasetRelations): Promise<string | null> {
  const view = viewNamed('recorded_since');
  const query = rowsParameters(view).parse({ dataset: name, sort: 'recorded_since', limit: '1' });
  const [first] = (await readRows(sql, view, query)).rows;
  return typeof first?.recorded_since === 'string' ? first.recorded_since : null;
}

/**
 * The notice for a moment before the first recording.
 * @param children links to other moments
 */
export function NoRecord({
  dataset,
  since,
  children,
}: {
  readonly dataset: string;
  readonly since: string;
  readonly children: ComponentChildren;
}) {
  return (
    <ErrorNotice what={`There is no data of ${dataset} for that time.`}>
      <p>
        The dataset has been recorded since <ValueText type="timestamptz" value={since} />: {children}.
      </p>
    </ErrorNotice>
  );
}
