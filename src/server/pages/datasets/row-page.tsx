import type { DeclaredColumn } from '../../../db/declared.ts';
import { parseExactInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import { InvalidRequestError, validateParameters } from '../../../reporting/relations/invalid-request.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import { type RowsQuery, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Row, type RowsPage, readRows, rowsSql } from '../../../reporting/relations/rows.ts';
import type { Content, PageDefinition } from '../page.ts';
import { KeyValues } from '../parts/key-values.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { columnKind, ValueText } from '../parts/value.tsx';
import {
  type DataFormat,
  hrefOf,
  type Parameters,
  rowsAddress,
  singleParameters,
  without,
} from './addresses.ts';
import { AsOf } from './filters.tsx';
import { Formats, PageSql } from './page-data.tsx';
import { chartOfRow, relationContent, relationPath } from './relation-head.tsx';
import { catalogue, parseAsOf } from './relations.ts';

/** A page of the recorded versions of a row, with its view and query. */
interface Versions {
  readonly view: Relation;
  readonly query: RowsQuery;
  readonly page: RowsPage;
}

const VERSIONS = 'All versions, newest first';

/** `/datasets/D/row?KEY`: all recorded versions of a row, with the changes marked. */
export const rowPage: PageDefinition = {
  path: '/datasets/:relation/row',
  async answer({ read }, { relation, ...params }) {
    const dataset = catalogue.datasets.get(String(relation));
    if (!dataset) return null;
    const { as_of: moment, ...keyValues } = params;
    // Unlike the empty field of the moment, an empty part of the key is a value.
    const requested = moment === '' ? keyValues : params;
    const asOf = parseAsOf(requested);
    const parameters = keyOf(dataset, requested);
    const view = dataset.history ?? dataset.now;
    const upTo: Parameters = asOf === null ? {} : { [`${dataset.begins}.lte`]: asOf };
    const filters = { ...filtersOfKey(dataset, parameters), ...upTo, sort: `-${dataset.begins}` };
    const query = validateParameters(rowsParameters(view), filters);
    const page = await read((sql) => readRows(sql, view, query));
    return content(dataset, { view, query, page }, parameters, asOf);
  },
};

/**
 * Returns the values of the key and the moment.
 * @throws InvalidRequestError if a part of the key is missing, or a parameter is unknown or repeated
 */
function keyOf({ key, now }: DatasetRelations, params: Readonly<Record<string, unknown>>): Parameters {
  const known = [...key, 'as_of'];
  const nullable = new Set(now.key.filter((one) => one.emptyForNull).map(({ name }) => name));
  const problems = [
    ...Object.keys(params)
      .filter((name) => !known.includes(name))
      .map((parameter) => ({
        parameter,
        problem: `is not a known parameter; the page accepts ${known.join(', ')}`,
      })),
    ...Object.entries(params)
      .filter(([, value]) => typeof value !== 'string')
      .map(([parameter]) => ({ parameter, problem: 'is given more than once' })),
    ...key
      .filter((name) => params[name] === undefined && !nullable.has(name))
      .map((parameter) => ({ parameter, problem: 'is required: it is part of the key' })),
  ];
  if (problems.length > 0) throw new InvalidRequestError(problems);
  return singleParameters(params) ?? {};
}

const filtersOfKey = ({ key }: DatasetRelations, parameters: Parameters): Parameters =>
  Object.fromEntries(
    key.map((name) => {
      const value = parameters[name];
      return value === undefined ? [`${name}.null`, 'true'] : [name, value];
    }),
  );

function content(
  dataset: DatasetRelations,
  { view, query, page: { rows, next } }: Versions,
  parameters: Parameters,
  asOf: string | null,
): Content {
  const { key, now } = dataset;
  const { name } = now;
  const types = new Map(now.columns.map((column) => [column.name, column.type]));
  const columns = view.columns.filter((column) => !key.includes(column.name));
  const upTo = asOf === null ? {} : { as_of: asOf };
  const versionsAddress = (form: DataFormat) =>
    rowsAddress(
      view,
      { ...filtersOfKey(dataset, parameters), ...upTo },
      { kind: 'since', column: dataset.begins },
      form,
    );
  const first = oldestVersionStart(dataset, rows);
  const chart = chartOfRow(dataset, { ...rows[0], ...parameters }, asOf, first);
  return relationContent(
    now,
    'row',
    parameters,
    `A row of ${name}`,
    <>
      <AsOf
        place={{ path: relationPath(name, 'row'), parameters }}
        asOf={asOf}
        note="Only versions that started up to that moment are shown."
      />
      <KeyValues
        of={key.map((one) => [
          one,
          <ValueText type={types.get(one) ?? 'text'} value={parameters[one] ?? null} />,
        ])}
      />
      <section aria-label={VERSIONS}>
        <div class="head">
          <h2>{VERSIONS}</h2>
          <p class="actions">
            {chart !== null && (
              <a href={chart}>{first ? 'Chart of the first and the current values' : 'Chart'}</a>
            )}
            <Formats address={versionsAddress} />
          </p>
        </div>
        <Table
          caption={VERSIONS}
          columns={columns.map((column) => versionColumn(column, rows, dataset))}
          rows={rows}
          empty="No versions."
        />
        {next !== null && (
          <p>
            More versions exist.{' '}
            <a href={hrefOf(relationPath(view.name), without(parameters, 'as_of'))}>Show all</a>
          </p>
        )}
      </section>
      <PageSql sql={rowsSql(view, query)} />
    </>,
  );
}

/**
 * Returns the start of the oldest of several versions; null if there is only one version, or for a log.
 * @param rows versions, the newest first
 */
function oldestVersionStart(
  { kind, begins, history }: DatasetRelations,
  rows: readonly Row[],
): string | null {
  const start = rows.at(-1)?.[begins];
  return history === null || kind === 'log' || rows.length < 2 || typeof start !== 'string'
    ? null
    : parseExactInstant(start);
}

/** Columns that usually differ between versions, so that their differences are not marked. */
const ALWAYS_NEW = ['run_id', 'ended_by', 'probes', 'is_open', 'valid_to'];

/** A column of the versions. Values that differ from the previous version are marked. */
function versionColumn(
  { name, type, comment }: DeclaredColumn,
  rows: readonly Row[],
  dataset: DatasetRelations,
): TableColumn<Row> {
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
