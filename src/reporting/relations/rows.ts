import type postgres from 'postgres';
import { relationSql } from '../views/declared-objects.ts';
import { type Cursor, encodeCursor } from './cursor.ts';
import { filterSql } from './filters.ts';
import { findLastKey } from './key-windows.ts';
import { buildListOwnerSql } from './list-owners.ts';
import { afterRowSql, orderExpression, rowColumnSql, upToRowSql } from './order.ts';
import type { EntityList, Relation } from './relation.ts';
import { isOrderedByValues, type Order, type RowsQuery } from './row-query.ts';
import { ofFilteredSeries, seriesBySeries, seriesInOrder } from './series-numbers.ts';
import { LiteralStatementBuilder, type ParameterizedStatement, StatementBuilder } from './statement.ts';
import { readValue, type Value, valueTextSql } from './values.ts';
import { planSearchWindows } from './windows.ts';

/** A row: values by column. */
export type Row = Readonly<Record<string, Value>>;

/** A page of rows. */
export interface RowsPage {
  readonly rows: readonly Row[];
  /** The cursor for the next page (`after`); null for the last page. */
  readonly next: string | null;
}

/**
 * Reads a page of rows. A page starts after the values of the last row of the previous page, not at an
 * offset. So rows that are inserted meanwhile cause neither repeated nor missing rows.
 * @throws PostgresError 22023 if there is no record at the moment of `as_of`
 */
export async function readRows(
  sql: postgres.Sql,
  relation: Relation,
  requested: RowsQuery,
): Promise<RowsPage> {
  const asOf = isOrderedByValues(relation)
    ? (requested.args.as_of ?? (await readRecordTime(sql)))
    : undefined;
  const query = asOf === undefined ? requested : { ...requested, args: { ...requested.args, as_of: asOf } };
  const { columns, order, limit } = query;
  const found = await firstRows(sql, relation, query);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return {
    rows: rows.map((row) =>
      Object.fromEntries(columns.map(({ name, type }, at) => [name, readValue(type, textIn(row[at]))])),
    ),
    next: more
      ? encodeCursor({ sort: order.sort, values: last.slice(columns.length).map(textIn), asOf })
      : null,
  };
}

/**
 * Returns the time up to which the database has the record, in PostgreSQL's format with microseconds. On a
 * replica, this is the last replayed transaction.
 */
async function readRecordTime(sql: postgres.Sql): Promise<string> {
  const [row] = await sql<{ at: string }[]>`
    select to_char(case when pg_is_in_recovery() then least(pg_last_xact_replay_timestamp(), now()) else now() end
      at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
  if (!row) throw new Error('the database returned no time');
  return row.at;
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null);

/**
 * Reads the rows of a page and one more. Searches in windows of increasing length, and without a window if no
 * window contains enough rows.
 */
async function firstRows(
  sql: postgres.Sql,
  relation: Relation,
  query: RowsQuery,
): Promise<readonly (readonly unknown[])[]> {
  const run = ({ text, values }: ParameterizedStatement) =>
    sql.unsafe<Record<string, string | null>[]>(text, [...values]).values();
  const last = (await findLastKey(sql, relation, query)) ?? (await lastOfFirstPart(run, relation, query));
  if (last) {
    const found = await run(rowsStatement(relation, { ...query, last }));
    if (found.length > query.limit) return found;
  }
  const windows = await planSearchWindows(sql, relation, query);
  for (let length = windows?.first ?? null; windows && length !== null; ) {
    const filters = [...query.filters, ...windows.filters(length)];
    const found = await run(rowsStatement(relation, { ...query, filters }));
    if (found.length > query.limit) return found;
    length = windows.longer(length, found.length);
  }
  return run(rowsStatement(relation, query));
}

/**
 * Returns an upper bound for the keys of a page of a past moment, if the first part of the rows alone fills
 * the page. The other parts have few rows that are valid at a given moment, so PostgreSQL would search for
 * these rows far beyond the page.
 * @returns null if rows are not read series by series, or the first part does not fill the page
 */
async function lastOfFirstPart(
  run: (statement: ParameterizedStatement) => Promise<readonly (readonly unknown[])[]>,
  relation: Relation,
  query: RowsQuery,
): Promise<Cursor | null> {
  const { order, asOf, limit } = query;
  const [first, ...others] = relation.pastParts ?? [];
  if (asOf === null || !first || others.length === 0 || !seriesInOrder(relation, order)) return null;
  const found = await run(rowsStatement({ ...relation, pastParts: [first] }, { ...query, columns: [] }));
  const last = found[limit];
  return last ? { sort: order.sort, values: last.map(textIn) } : null;
}

/**
 * Returns the statement that reads a page and one more row: the requested columns, then the columns of the
 * order, all as text.
 */
export function rowsStatement(relation: Relation, query: RowsQuery): ParameterizedStatement {
  const into = new StatementBuilder();
  const { columns, order, limit } = query;
  const selected = [
    ...columns.map(({ name, type }) => valueTextSql(type, rowColumnSql(name))),
    ...order.columns.map((one) => valueTextSql(one.type, orderExpression(one))),
  ];
  const text = [
    `select ${selected.join(', ')}`,
    ...fromSql(relation, query, into),
    orderSql(order, entityListOf(relation, query), query.filters),
    `limit ${limit + 1}`,
  ].join('\n');
  return { text, values: into.values };
}

/**
 * Returns the query of a page as SQL that people can read, copy and run: with literals, and with columns of
 * their own types.
 */
export function rowsSql(relation: Relation, query: RowsQuery): string {
  return [
    `select ${query.columns.map(({ name }) => rowColumnSql(name)).join(', ')}`,
    ...matchingSql(relation, query, new LiteralStatementBuilder()),
    orderSql(query.order, entityListOf(relation, query), query.filters),
    `limit ${query.limit};`,
  ].join('\n');
}

/** Returns the FROM and WHERE clauses of a superset of the rows of the page. */
function fromSql(relation: Relation, query: RowsQuery, into: StatementBuilder): string[] {
  const { order, limit, columns } = query;
  const listOwnerSql = buildListOwnerSql(relation, query, into);
  if (listOwnerSql) {
    const conditions = conditionsOf(relation, query, into);
    return [
      `from ${listOwnerSql.listed} as w`,
      `cross join lateral ${listOwnerSql.elements} as r`,
      ...(conditions.length > 0 ? [`where ${conditions.join('\n  and ')}`] : []),
    ];
  }
  const parts = partsOf(relation, query, into);
  if (!parts) return matchingSql(relation, query, into);
  const named = new Set([...columns, ...order.columns].map((one) => one.name));
  const numbered = seriesInOrder(relation, order);
  const first = parts.flatMap(({ from, where }) => {
    const rows = (conditions: readonly string[]) =>
      `select ${[...named].map(rowColumnSql).join(', ')}\nfrom ${from} as r\nwhere ${[...where, ...conditions].join('\n  and ')}`;
    if (!numbered)
      return `${rows(conditionsOf(relation, query, into))}\n${orderSql(order, null, [])}\nlimit ${limit + 1}`;
    const conditions = conditionsOf(relation, { filters: query.filters, after: null, order }, into);
    return seriesBySeries(numbered, query, limit + 1, into, (more) => rows([...more, ...conditions]));
  });
  return [`from (${first.map((one) => `(${one})`).join('\nunion all\n')}) as r`];
}

/** SQL of rows: a FROM item for `r`, and conditions. */
interface RowsSql {
  readonly from: string;
  readonly where: readonly string[];
}

/**
 * Returns the parts of the rows that can each be read in key order. Returns null if all rows together can be
 * read in key order.
 */
function partsOf(relation: Relation, { asOf, order }: RowsQuery, into: StatementBuilder): RowsSql[] | null {
  const { key, name } = relation;
  const parts = relation.parts ?? (relation.numbered ? [name] : undefined);
  if (asOf !== null)
    return relation.pastParts ? pastPartsOf(relation, into.value(asOf, 'timestamptz'), into) : null;
  return parts && order.columns[0]?.name === key[0]?.name
    ? parts.map((view) => ({ from: relationSql(view), where: ['true'] }))
    : null;
}

/**
 * Returns the parts of the rows of a past moment that can each be read in key order. Empty if all rows
 * together can be read in key order.
 * @param at SQL of the moment
 */
export function pastPartsOf(
  { dataset = '', pastParts = [] }: Relation,
  at: string,
  into: StatementBuilder,
): RowsSql[] {
  const record = recordAt(dataset, at, into);
  return pastParts.map(({ view, where }) => ({ from: relationSql(view), where: [where(at), record] }));
}

function conditionsOf(
  relation: Relation,
  { filters, after, last, order }: Pick<RowsQuery, 'filters' | 'after' | 'last' | 'order'>,
  into: StatementBuilder,
) {
  return [
    ...ofFilteredSeries(relation, filters, into),
    ...filters.map((filter) => filterSql(filter, into)),
    ...(after ? [afterRowSql(order, after.values, into)] : []),
    ...(last ? [upToRowSql(order, last.values, into)] : []),
  ];
}

/** Returns the FROM and WHERE clauses of the requested rows, from the start of the page. */
export function matchingSql(relation: Relation, query: RowsQuery, into: StatementBuilder): string[] {
  const entityList = entityListOf(relation, query);
  // Filters on the columns of the entity apply only to the list of entities. If a filter applied twice,
  // PostgreSQL would estimate almost no rows and choose a wrong plan.
  const filters = query.filters.filter(({ column }) => !entityList?.columns.includes(column));
  const conditions = [
    ...(entityList ? [`(${namesOf(entityList, 'r')}) = (${namesOf(entityList, 'w')})`] : []),
    ...conditionsOf(relation, { ...query, filters }, into),
  ];
  const rows = `from ${sourceSql(relation, query, into)} as r`;
  const where = conditions.length > 0 ? [`where ${conditions.join('\n  and ')}`] : [];
  if (!entityList) return [rows, ...where];
  // `offset 0` keeps entities separate: PostgreSQL computes the rows of the next entity only while the page
  // is not full.
  return [
    `from ${entitiesSql(relation.dataset ?? '', entityList, query, into)} as w`,
    `cross join lateral (select * ${[rows, ...where].join('\n')} offset 0) as r`,
  ];
}

/**
 * Returns SQL of an order. Columns of the entity are read from the list of entities, so that the first
 * entities are enough for a page. Columns with an equality filter are omitted, as in the order of that list.
 */
function orderSql(
  { columns, descending }: Order,
  entityList: EntityList | null,
  filters: RowsQuery['filters'],
): string {
  const isOfEntity = (name: string) => entityList?.columns.includes(name) === true;
  const shared = (name: string) =>
    isOfEntity(name) && filters.some(({ column, operator }) => column === name && operator === 'eq');
  return `order by ${[
    ...columns
      .filter(({ name }) => !shared(name))
      .map((one) => (isOfEntity(one.name) ? `w."${one.name}"` : orderExpression(one))),
  ]
    .map((one) => one + (descending ? ' desc' : ''))
    .join(', ')}`;
}

/** Returns the entities whose rows are read one by one. Returns null if all rows are read at once. */
function entityListOf({ entities }: Relation, { order, asOf, filters }: RowsQuery): EntityList | null {
  // For a past moment, only observations are listed, by their time.
  if (!entities || (asOf !== null && !entities.alone)) return null;
  if (entities.alone && !filters.every(({ column }) => isListed(entities, column))) return null;
  return entities.columns.every((name, at) => order.columns[at]?.name === name) ? entities : null;
}

/** Returns true if the list of entities has a column. */
const isListed = ({ columns, also = [] }: EntityList, column: string) =>
  [...columns, ...also].includes(column);

const namesOf = ({ columns }: EntityList, of: string) => columns.map((name) => `${of}."${name}"`).join(', ');

/**
 * Returns SQL that raises an error if a dataset has no record at a moment.
 * @param at SQL of the moment
 */
const recordAt = (dataset: string, at: string, into: StatementBuilder) =>
  `reporting_internal.has_record(${into.value(dataset, 'text')}, ${at})`;

/**
 * Returns SQL that lists each entity once, in the order of the rows. The list starts at the entity of the last
 * row of the previous page.
 */
function entitiesSql(
  dataset: string,
  entityList: EntityList,
  { filters, after, order, asOf }: RowsQuery,
  into: StatementBuilder,
): string {
  const [first = ''] = entityList.columns;
  const at = asOf === null ? null : into.value(asOf, 'timestamptz');
  const conditions = [
    // Without this check, a moment before the record would list no entity, and the view that reports the
    // error would not be read.
    ...(at === null ? [] : [`w."${first}" <= ${at}`, recordAt(dataset, at, into)]),
    ...filters.filter(({ column }) => isListed(entityList, column)).map((one) => filterSql(one, into, 'w')),
    ...(after
      ? [
          `(${namesOf(entityList, 'w')}) ${order.descending ? '<=' : '>='} (${entityList.columns
            .map((_, at) => into.value(after.values[at] ?? '', order.columns[at]?.type ?? 'text'))
            .join(', ')})`,
        ]
      : []),
  ];
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  const turn = order.descending ? ' desc' : '';
  const inTurn = entityList.columns.map((name) => `w."${name}"${turn}`).join(', ');
  // Ordered, so that the rows are sorted entity by entity. From an unordered list, PostgreSQL would compute
  // all rows.
  return `(select distinct ${namesOf(entityList, 'w')} from ${relationSql(entityList.view)} w${where} order by ${inTurn})`;
}

/**
 * Returns SQL of a FROM item: the view, its function of a past moment, or the function with its arguments.
 */
export function sourceSql(
  { name, parameters, asOf }: Relation,
  query: Pick<RowsQuery, 'asOf' | 'args'>,
  into: StatementBuilder,
): string {
  if (parameters) {
    const args = parameters.flatMap((one) => {
      const value = query.args[one.name];
      if (value === undefined) return [];
      const bound =
        one.type === 'text[]'
          ? `string_to_array(${into.value(value, 'text')}, ',')`
          : into.value(value, one.type);
      return [`${quoted(one.name)} => ${bound}`];
    });
    return `${relationSql(name)}(${args.join(', ')})`;
  }
  if (query.asOf !== null && asOf !== null)
    return `${relationSql(asOf)}(${into.value(query.asOf, 'timestamptz')})`;
  return relationSql(name);
}

/** Quotes a declared name, because some names are SQL keywords, such as `from`. */
const quoted = (name: string) => `"${name}"`;
