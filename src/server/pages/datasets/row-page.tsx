import type { DeclaredColumn } from '../../../db/declared.ts';
import { parseExactInstant } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { InvalidRequestError, validateParameters } from '../../../reporting/relations/invalid-request.ts';
import type { ReportingRelation } from '../../../reporting/relations/readable.ts';
import { type RowsQuery, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Row, type RowsPage, readRows, rowsSql } from '../../../reporting/relations/rows.ts';
import type { Content, Page } from '../page.ts';
import { KeyValues } from '../parts/key-values.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { columnKind, ValueText } from '../parts/value.tsx';
import { hrefOf, keepAsOf, type Parameters, parametersOf, without } from './address.ts';
import { type DataFormat, rowsAddress } from './api-address.ts';
import { AsOf } from './as-of.tsx';
import { canonicalizeParameters } from './canonical-address.ts';
import { chartOfRow } from './chart-of-row.ts';
import { Formats } from './formats.tsx';
import { PageSql } from './page-sql.tsx';
import { pathOf, RelationHead } from './relation-head.tsx';
import { catalogue, viewsOf } from './relations.ts';
import { parseAsOf } from './requested-rows.ts';

/** A table of recorded versions of the row. */
interface VersionTable {
  readonly heading: string;
  readonly view: ReportingRelation;
  readonly question: RowsQuery;
  readonly columns: readonly DeclaredColumn[];
  readonly page: RowsPage;
}

/** `/datasets/D/row?KEY`: all recorded versions of a row, with the changes marked. */
export const rowPage: Page = {
  path: '/datasets/:relation/row',
  async answer({ read }, { relation, ...asked }) {
    const dataset = catalogue.datasets.get(String(relation));
    if (!dataset) return null;
    const tidied = canonicalizeParameters(pathOf(dataset.name, 'row'), asked);
    if ('location' in tidied) return tidied;
    const asOf = parseAsOf(tidied.given);
    const parameters = keyOf(dataset, tidied.given);
    const { conflicts } = viewsOf(dataset);
    const found = await read(async (sql) => {
      const tables: VersionTable[] = [];
      for (const view of [dataset.history ?? dataset.now, ...(conflicts ? [conflicts] : [])]) {
        const begins = view === conflicts ? 'recorded_at' : dataset.begins;
        const upTo: Parameters = asOf === null ? {} : { [`${begins}.lte`]: asOf };
        const asked = { ...filtersOfKey(dataset, parameters), ...upTo, sort: `-${begins}` };
        const question = validateParameters(rowsParameters(view), asked);
        const heading = view === conflicts ? 'Later contradictions' : 'All versions, newest first';
        const columns = view.columns.filter(({ name }) => !dataset.key.includes(name));
        tables.push({ heading, view, question, columns, page: await readRows(sql, view, question) });
      }
      return tables;
    });
    return content(dataset, found, parameters, asOf);
  },
};

/**
 * Checks that the parameters are the whole key and nothing else.
 * @throws InvalidRequestError if they are not
 */
function keyOf({ key, now }: ReadableDataset, given: Readonly<Record<string, unknown>>): Parameters {
  const known = [...key, 'as_of'];
  const nullable = new Set(now.key.filter((one) => one.emptyForNull).map(({ name }) => name));
  const problems = [
    ...Object.keys(given)
      .filter((name) => !known.includes(name))
      .map((parameter) => ({ parameter, problem: `is not known here: there are ${known.join(', ')}` })),
    ...Object.entries(given)
      .filter(([, value]) => typeof value !== 'string')
      .map(([parameter]) => ({ parameter, problem: 'is given more than once' })),
    ...key
      .filter((name) => given[name] === undefined && !nullable.has(name))
      .map((parameter) => ({ parameter, problem: 'is required: it is part of the key' })),
  ];
  if (problems.length > 0) throw new InvalidRequestError(problems);
  return parametersOf(given) ?? {};
}

const filtersOfKey = ({ key }: ReadableDataset, parameters: Parameters): Parameters =>
  Object.fromEntries(
    key.map((name) => {
      const value = parameters[name];
      return value === undefined ? [`${name}.null`, 'true'] : [name, value];
    }),
  );

function content(
  dataset: ReadableDataset,
  found: readonly VersionTable[],
  parameters: Parameters,
  asOf: string | null,
): Content {
  const { name, key, now } = dataset;
  const types = new Map(now.columns.map((column) => [column.name, column.type]));
  const versions = dataset.history ?? now;
  const upTo = asOf === null ? {} : { as_of: asOf };
  const versionsAddress = (view: ReportingRelation, form: DataFormat) =>
    rowsAddress(
      { readable: view, dataset },
      { ...filtersOfKey(dataset, parameters), ...upTo },
      { kind: 'since', column: view === versions ? dataset.begins : 'recorded_at' },
      form,
    );
  const rows = found[0]?.page.rows ?? [];
  const first = oldestVersionStart(dataset, rows);
  const chart = chartOfRow(dataset, { ...rows[0], ...parameters }, asOf, first);
  return {
    title: `A row of ${name}`,
    islands: ['copy'],
    crumbs: [
      { href: hrefOf('/datasets', keepAsOf(parameters)), label: 'Data' },
      { href: hrefOf(pathOf(name), keepAsOf(parameters)), label: name },
    ],
    body: (
      <>
        <RelationHead relation={{ readable: now, dataset }} tab="row" parameters={parameters} />
        <AsOf
          path={pathOf(name, 'row')}
          parameters={parameters}
          asOf={asOf}
          note="These are the versions that started up to that moment."
        />
        <KeyValues
          of={key.map((one) => [
            one,
            <ValueText key={one} type={types.get(one) ?? 'text'} value={parameters[one] ?? null} />,
          ])}
        />
        {found.map(({ heading, view, columns, page: { rows, next } }) => (
          <section aria-label={heading} key={heading}>
            <div class="head">
              <h2>{heading}</h2>
              <p class="actions">
                {chart !== null && view === versions && (
                  <a href={chart}>{first ? 'Chart of the first and the current values' : 'Chart'}</a>
                )}
                <Formats address={(form) => versionsAddress(view, form)} />
              </p>
            </div>
            <Table
              caption={heading}
              columns={columns.map((column) => versionColumn(column, rows, dataset))}
              rows={rows}
              keyOf={(row) => rows.indexOf(row)}
              empty="Nothing."
            />
            {next !== null && (
              <p>
                There are more:{' '}
                <a href={hrefOf(pathOf((dataset.history ?? now).name), without(parameters, 'as_of'))}>
                  all of them
                </a>
                .
              </p>
            )}
          </section>
        ))}
        {found.slice(0, 1).map(({ view, question }) => (
          <PageSql sql={rowsSql(view, question)} key={view.name} />
        ))}
      </>
    ),
  };
}

/**
 * Returns the start of the oldest of several versions, or null if there is only one.
 * @param rows the newest first
 */
function oldestVersionStart({ begins, history }: ReadableDataset, rows: readonly Row[]): string | null {
  const said = rows.at(-1)?.[begins];
  return history === null || rows.length < 2 || typeof said !== 'string' ? null : parseExactInstant(said);
}

/** Columns that differ in every version, so that the difference has no meaning. */
const ALWAYS_NEW = ['run_id', 'ended_by', 'probes', 'is_open', 'superseded_at'];

/** A column of the versions. Values that differ from the previous version are marked. */
function versionColumn(
  { name, type, comment }: DeclaredColumn,
  rows: readonly Row[],
  dataset: ReadableDataset,
): Column<Row> {
  const marks = ![dataset.begins, dataset.ends, ...ALWAYS_NEW].includes(name);
  return {
    name,
    about: comment,
    kind: columnKind(type),
    cell: (row) => {
      const value = row[name] ?? null;
      const before = rows[rows.indexOf(row) + 1];
      const text = <ValueText type={type} value={value} />;
      const differs = marks && before && JSON.stringify(before[name] ?? null) !== JSON.stringify(value);
      return differs ? <mark title="Differs from the previous version">{text}</mark> : text;
    },
  };
}
