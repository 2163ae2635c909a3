import type postgres from 'postgres';
import { cursorText } from './cursor.ts';
import { condition } from './filters.ts';
import type { OrderColumn, Readable } from './readable.ts';
import type { Order, RowsQuestion } from './rows-question.ts';
import { type Asked, ReadableStatement, Statement } from './statement.ts';
import { readValue, textOf, type Value } from './values.ts';

/** A row: values by column. */
export type Row = Readonly<Record<string, Value>>;

/** A page of rows. */
export interface RowsPage {
  readonly rows: readonly Row[];
  /** The cursor after which the next page begins (`after`); null: this is the last page. */
  readonly next: string | null;
}

/**
 * Reads a page of rows. Pages are found by the values of the last row, never by counting, so that rows which come meanwhile
 * neither repeat nor hide others.
 * @throws PostgresError 22023 when there is no record at the moment of `as_of`
 */
export async function readRows(
  sql: postgres.Sql,
  readable: Readable,
  question: RowsQuestion,
): Promise<RowsPage> {
  const { text, values } = rowsStatement(readable, question);
  const { columns, order, limit } = question;
  const found = await sql.unsafe<Record<string, string | null>[]>(text, [...values]).values();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return {
    rows: rows.map((row) =>
      Object.fromEntries(columns.map(({ name, type }, at) => [name, readValue(type, textIn(row[at]))])),
    ),
    next: more
      ? cursorText({ sort: order.sort, values: last.slice(columns.length).map((one) => textIn(one)) })
      : null,
  };
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null);

/** The statement that reads a page: the columns that are wanted, then those of the order, all as texts, and a row more than asked. */
export function rowsStatement(readable: Readable, question: RowsQuestion): Asked {
  const into = new Statement();
  const { columns, order, limit } = question;
  const typeOf = typesOf(readable);
  const selected = [
    ...columns.map(({ name, type }) => textOf(type, columnOf(name))),
    ...order.columns.map((one) => textOf(typeOf(one.name), orderExpression(one))),
  ];
  const text = [
    `select ${selected.join(', ')}`,
    ...matching(readable, question, into),
    inOrder(order),
    `limit ${limit + 1}`,
  ].join('\n');
  return { text, values: into.values };
}

/** The same question as SQL to be read, copied and run: its values are literals, and its columns have their own types. */
export function rowsSql(readable: Readable, question: RowsQuestion): string {
  return [
    `select ${question.columns.map(({ name }) => columnOf(name)).join(', ')}`,
    ...matching(readable, question, new ReadableStatement()),
    inOrder(question.order),
    `limit ${question.limit};`,
  ].join('\n');
}

/** SQL: FROM and WHERE of the rows that are asked for, from the page on that is asked for. */
export function matching(readable: Readable, question: RowsQuestion, into: Statement): string[] {
  const typeOf = typesOf(readable);
  const conditions = [
    ...question.filters.map((filter) =>
      condition(filter, typeOf(filter.column), columnOf(filter.column), into),
    ),
    ...(question.after ? [following(question.order, question.after.values, typeOf, into)] : []),
  ];
  return [
    `from ${source(readable, question, into)} as r`,
    ...(conditions.length > 0 ? [`where ${conditions.join('\n  and ')}`] : []),
  ];
}

const inOrder = ({ columns, descending }: Order) =>
  `order by ${columns.map((one) => orderExpression(one) + (descending ? ' desc' : '')).join(', ')}`;

function typesOf({ columns }: Readable): (name: string) => string {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  return (name) => types.get(name) ?? 'text';
}

/** SQL of where the rows come from: the view, its function of a moment, or the function with its values. */
export function source(
  { name, parameters, asOf }: Readable,
  question: Pick<RowsQuestion, 'asOf' | 'given'>,
  into: Statement,
): string {
  if (parameters) {
    const given = parameters.flatMap((one) => {
      const value = question.given[one.name];
      if (value === undefined) return [];
      const bound =
        one.type === 'text[]'
          ? `string_to_array(${into.value(value, 'text')}, ',')`
          : into.value(value, one.type);
      return [`${quoted(one.name)} => ${bound}`];
    });
    return `reporting.${name}(${given.join(', ')})`;
  }
  if (question.asOf !== null && asOf !== null)
    return `reporting.${asOf}(${into.value(question.asOf, 'timestamptz')})`;
  return `reporting.${name}`;
}

/** A declared name in SQL: some are words of the language, such as `from`. */
const quoted = (name: string) => `"${name}"`;

/** A column of the rows. Without `r.` an ORDER BY would take the text that is selected under the same name. */
export const columnOf = (name: string) => `r.${quoted(name)}`;

/** SQL of a column in an order. */
export const orderExpression = ({ name, emptyForNull }: OrderColumn) =>
  emptyForNull ? `coalesce(${columnOf(name)}, '')` : columnOf(name);

/**
 * SQL: whether a row comes after the values of another one. Nulls come last, or first where the order falls.
 * @param expression SQL of a column of the order
 */
export function following(
  { columns, descending }: Order,
  values: readonly (string | null)[],
  typeOf: (name: string) => string,
  into: Statement,
  expression: (column: OrderColumn, place: number) => string = orderExpression,
): string {
  const parts = columns.map((column, at) => {
    const value = values[at] ?? null;
    return {
      name: expression(column, at),
      nullable: column.nullable,
      value: value === null ? null : into.value(value, typeOf(column.name)),
    };
  });
  const sign = descending ? '<' : '>';
  const [first] = parts;
  // Alone it is an index condition also where the order has columns of no index, or of another table.
  const bound =
    first && !first.nullable && first.value !== null ? [`${first.name} ${sign}= ${first.value}`] : [];
  if (parts.every(({ nullable, value }) => !nullable && value !== null))
    return [
      ...bound,
      `(${parts.map(({ name }) => name).join(', ')}) ${sign} (${parts.map(({ value }) => value).join(', ')})`,
    ].join(' and ');
  const alternatives = parts.flatMap((part, at) => {
    const same = parts
      .slice(0, at)
      .map(({ name, value }) => (value === null ? `${name} is null` : `${name} = ${value}`));
    const further = beyond(part, sign, descending);
    return further === null ? [] : [`(${[...same, further].join(' and ')})`];
  });
  return [...bound, alternatives.length > 0 ? `(${alternatives.join(' or ')})` : 'false'].join(' and ');
}

/** SQL: whether a column comes after a value; null: nothing does. */
function beyond(
  {
    name,
    nullable,
    value,
  }: { readonly name: string; readonly nullable: boolean; readonly value: string | null },
  sign: string,
  descending: boolean,
): string | null {
  if (value === null) return descending ? `${name} is not null` : null;
  return nullable && !descending
    ? `(${name} ${sign} ${value} or ${name} is null)`
    : `${name} ${sign} ${value}`;
}
