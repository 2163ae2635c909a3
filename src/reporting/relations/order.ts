import type { OrderColumn } from './relation.ts';
import type { Order } from './row-query.ts';
import type { StatementBuilder } from './statement.ts';

/**
 * Returns SQL of a column of the rows. Without `r.`, ORDER BY would refer to the selected text of the same
 * name.
 */
export const rowColumnSql = (name: string) => `r."${name}"`;

/**
 * Number of characters of a long text that are compared in an order. A cursor contains these characters and
 * is part of a URL. A proxy may reject a URL of 8 kB.
 */
export const MAX_SORT_CHARACTERS = 300;

/** Returns SQL of a column in an order. */
export function orderExpression({ name, emptyForNull, byPrefix }: OrderColumn): string {
  const column = rowColumnSql(name);
  if (emptyForNull) return `coalesce(${column}, '')`;
  return byPrefix ? `left(${column}, ${MAX_SORT_CHARACTERS})` : column;
}

/**
 * Returns SQL that is true for rows after the values of another row. Nulls come last in ascending order,
 * first in descending order.
 */
export function afterRowSql(
  { columns, descending }: Order,
  values: readonly (string | null)[],
  into: StatementBuilder,
): string {
  const parts = columns.map((column, at) => {
    const value = values[at] ?? null;
    return {
      name: orderExpression(column),
      nullable: column.nullable,
      value: value === null ? null : into.value(value, column.type),
    };
  });
  const sign = descending ? '<' : '>';
  const [first] = parts;
  // The bound on the first column is an index condition even if the order has columns outside the index or of
  // another table.
  const bound =
    first && !first.nullable && first.value !== null ? [`${first.name} ${sign}= ${first.value}`] : [];
  if (parts.every(({ nullable, value }) => !nullable && value !== null)) {
    const row = `(${parts.map(({ name }) => name).join(', ')})`;
    const last = `(${parts.map(({ value }) => value).join(', ')})`;
    // PostgreSQL estimates the rows by the first column alone. For `>`, it would expect no rows if all rows
    // have the same value there, and read and sort all of them.
    return [...bound, `${row} ${sign}= ${last}`, `${row} <> ${last}`].join(' and ');
  }
  const alternatives = parts.flatMap((part, at) => {
    const same = parts
      .slice(0, at)
      .map(({ name, value }) => (value === null ? `${name} is null` : `${name} = ${value}`));
    const further = beyond(part, sign, descending);
    return further === null ? [] : [`(${[...same, further].join(' and ')})`];
  });
  return [...bound, alternatives.length > 0 ? `(${alternatives.join(' or ')})` : 'false'].join(' and ');
}

/** Returns SQL that is true if a column comes after a value. Returns null if no value can come after it. */
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

/**
 * Returns SQL that is true for rows up to and including the values of another row.
 * @param order of columns that are never null
 */
export function upToRowSql(
  { columns, descending }: Order,
  values: readonly (string | null)[],
  into: StatementBuilder,
): string {
  const sign = descending ? '>=' : '<=';
  const placeholders = columns.map(({ type }, at) => into.value(values[at] ?? '', type));
  const expressions = columns.map(orderExpression);
  return `${expressions[0]} ${sign} ${placeholders[0]} and (${expressions.join(', ')}) ${sign} (${placeholders.join(', ')})`;
}
