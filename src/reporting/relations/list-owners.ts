import { hasElementsSql } from '../../datasets/dataset.ts';
import { relationSql } from '../views/declared-objects.ts';
import { filterSql } from './filters.ts';
import { orderExpression, rowColumnSql, upToRowSql } from './order.ts';
import type { OrderColumn, Relation } from './relation.ts';
import type { RowsQuery } from './row-query.ts';
import type { StatementBuilder } from './statement.ts';

/** SQL of the rows that contain the list elements of a page. */
export interface ListOwnerSql {
  /** SQL of a FROM item with the keys of the rows. */
  readonly listed: string;
  /** SQL of a FROM item with the elements of the row `w`. */
  readonly elements: string;
}

/**
 * Returns SQL of the versions whose list elements fill a page. Each version has at least one element, so a
 * page needs at most as many versions as its limit. Each version is found by its key. No index contains all
 * elements in order, so PostgreSQL would have to sort them.
 * @returns null if the rows are no list elements, or if the query has another order or filters on columns
 * outside the key of the owner
 */
export function buildListOwnerSql(
  { name, listOwner }: Relation,
  { filters, after, limit, order }: RowsQuery,
  into: StatementBuilder,
): ListOwnerSql | null {
  if (!listOwner?.key.every(({ name }, at) => name === order.columns[at]?.name)) return null;
  const { key, list, views } = listOwner;
  const ofKey = new Set(key.map(({ name }) => name));
  if (!filters.every(({ column }) => ofKey.has(column))) return null;
  const columns = order.columns.slice(0, key.length);
  const begin = after?.values.slice(0, key.length) ?? [];
  if (begin.includes(null)) return null;
  const conditions = [
    hasElementsSql(list, 'r'),
    // For `= 'array'`, PostgreSQL would estimate one row in 200, and read and sort all rows.
    `jsonb_typeof(${rowColumnSql(list)}) not in ('object', 'string', 'number', 'boolean', 'null')`,
    ...filters.map((one) => filterSql(one, into)),
    // The row of the last element may have more elements.
    ...(after ? [upToRowSql({ ...order, columns, descending: !order.descending }, begin, into)] : []),
  ];
  const turn = order.descending ? ' desc' : '';
  const inTurn = (expression: (column: OrderColumn) => string) =>
    key.map((one) => expression(one) + turn).join(', ');
  // One more row, in case the row of the last element has no further element.
  const enough = `limit ${limit + (after ? 2 : 1)}`;
  const parts = views.map(
    (view) => `(select ${key.map((one) => `${orderExpression(one)} as "${one.name}"`).join(', ')}
from ${relationSql(view)} as r
where ${conditions.join('\n  and ')}
order by ${inTurn(orderExpression)}
${enough})`,
  );
  const same = key.map((one) => `${orderExpression(one)} = w."${one.name}"`).join(' and ');
  return {
    listed: `(select * from (${parts.join('\nunion all\n')}) as k
order by ${inTurn(({ name: column }) => `k."${column}"`)}
${enough})`,
    elements: `(select * from ${relationSql(name)} as r where ${same} offset 0)`,
  };
}
