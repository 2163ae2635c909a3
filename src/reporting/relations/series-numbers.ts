import { relationSql } from '../views/declared-objects.ts';
import type { Cursor } from './cursor.ts';
import { type Filter, filterSql } from './filters.ts';
import { afterRowSql, orderExpression, upToRowSql } from './order.ts';
import type { Relation, SeriesNumbering } from './relation.ts';
import type { Order, RowsQuery } from './row-query.ts';
import type { StatementBuilder } from './statement.ts';

/**
 * SQL of rows that refer to a series by its number. PostgreSQL reads the rows of one number in the order of
 * time. With conditions on the texts of a series, PostgreSQL finds the rows of the series, but cannot read
 * these rows in order. So queries that need the order use the number.
 */

const ofRow = ({ number }: SeriesNumbering) => `r."${number}"`;
const texts = ({ columns }: SeriesNumbering) => columns.map((name) => `w."${name}"`);

/**
 * Returns SQL that limits rows to one series. Returns an empty list if a column of the series has no value.
 * @param columnValue returns the value of a column
 */
export function ofOneSeries(
  { numbered }: Pick<Relation, 'numbered'>,
  columnValue: (column: string) => string | undefined,
  into: StatementBuilder,
): string[] {
  const values = numbered?.columns.flatMap((name) => columnValue(name) ?? []) ?? [];
  if (!numbered || values.length < numbered.columns.length) return [];
  const same = numbered.columns.map((name, at) => `w."${name}" = ${into.value(values[at] ?? '', 'text')}`);
  return [
    `${ofRow(numbered)} = (select w."${numbered.number}" from ${relationSql(numbered.view)} as w where ${same.join(' and ')})`,
  ];
}

/** Returns the condition of {@link ofOneSeries}, from filters. */
export const ofFilteredSeries = (
  relation: Relation,
  filters: readonly Filter[],
  into: StatementBuilder,
): string[] =>
  ofOneSeries(
    relation,
    (name) => filters.find(({ column, operator }) => column === name && operator === 'eq')?.value,
    into,
  );

/**
 * Returns the numbering of the rows. Returns null if rows have no numbering, or the query is not ordered by
 * series.
 */
export const seriesInOrder = (
  { numbered }: Pick<Relation, 'numbered'>,
  { columns }: Pick<Order, 'columns'>,
): SeriesNumbering | null =>
  numbered?.columns.every((name, at) => columns[at]?.name === name) ? numbered : null;

/**
 * Returns selects of the first rows of each series that a page can contain, each in order: one for the series
 * in which the page starts, one for the series in between, and one for the series in which the page ends.
 * @param limit maximum number of rows
 * @param rows returns the select of rows `r`, with additional conditions
 */
export function seriesBySeries(
  numbered: SeriesNumbering,
  { filters, after, last, order }: Pick<RowsQuery, 'filters' | 'after' | 'last' | 'order'>,
  limit: number,
  into: StatementBuilder,
  rows: (conditions: readonly string[]) => string,
): string[] {
  const { columns, view, number } = numbered;
  const turn = order.descending ? ' desc' : '';
  const rest = order.columns.slice(columns.length);
  const prefix = `(${texts(numbered).join(', ')})`;
  const seriesOf = ({ values }: Cursor) =>
    `(${columns.map((_, at) => into.value(values[at] ?? '', order.columns[at]?.type ?? 'text')).join(', ')})`;
  const inTurn = (expressions: readonly string[]) => expressions.map((one) => one + turn).join(', ');
  const select = (ofSeries: readonly string[], ofRows: readonly string[]) => {
    const conditions = [
      ...filters.filter(({ column }) => columns.includes(column)).map((one) => filterSql(one, into, 'w')),
      ...ofSeries,
    ];
    const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
    const expressions = rest.map(orderExpression);
    return `select r.* from (
  select w."${number}", ${texts(numbered).join(', ')} from ${relationSql(view)} as w${where} order by ${inTurn(texts(numbered))}) as w
cross join lateral (
${rows([`${ofRow(numbered)} = w."${number}"`, ...ofRows])}
order by ${inTurn(expressions)}
limit ${limit}) as r
order by ${inTurn([...texts(numbered), ...expressions])}
limit ${limit}`;
  };
  const [beyond, before] = order.descending ? ['<', '>'] : ['>', '<'];
  const restOf = ({ values }: Cursor) => values.slice(columns.length);
  const ofRest = { ...order, columns: rest };
  const further = after ? [afterRowSql(ofRest, restOf(after), into)] : [];
  const upToLast = last ? [upToRowSql(ofRest, restOf(last), into)] : [];
  const begins = after && seriesOf(after);
  if (after && last && columns.every((_, at) => after.values[at] === last.values[at]))
    return [select([`${prefix} = ${begins}`], [...further, ...upToLast])];
  const ends = last && seriesOf(last);
  return [
    ...(begins ? [select([`${prefix} = ${begins}`], further)] : []),
    select(
      [
        ...(begins ? [`${prefix} ${beyond} ${begins}`] : []),
        ...(ends ? [`${prefix} ${before} ${ends}`] : []),
      ],
      [],
    ),
    ...(ends ? [select([`${prefix} = ${ends}`], upToLast)] : []),
  ];
}
