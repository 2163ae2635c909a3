import type postgres from 'postgres';
import { relationSql } from '../views/declared-objects.ts';
import type { Cursor } from './cursor.ts';
import { filterSql } from './filters.ts';
import { afterRowSql, orderExpression, rowColumnSql } from './order.ts';
import type { Relation } from './relation.ts';
import type { RowsQuery } from './row-query.ts';
import { StatementBuilder } from './statement.ts';
import { valueTextSql } from './values.ts';

/**
 * Finds the first key after a page of a view over all nodes. The rows of each node have an index that starts
 * with the node, so the first keys of each node are found fast, and the keys of the page are among these
 * keys. A query of the view itself would compute all keys.
 * @returns the key. Null if the relation is no such view, or if all remaining keys fit on the page. Null if
 * the query has another order, or filters on columns outside the key
 */
export async function findLastKey(
  sql: postgres.Sql,
  relation: Relation,
  query: RowsQuery,
): Promise<Cursor | null> {
  const { perNodeView, key, columns } = relation;
  const { order, filters, after, limit, asOf } = query;
  const ofKey = new Set(key.map(({ name }) => name));
  const inTurn = order.columns.every(({ name }, at) => name === key[at]?.name);
  if (!perNodeView || !inTurn || !filters.every(({ column }) => ofKey.has(column))) return null;
  const into = new StatementBuilder();
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const typeOf = (name: string) => types.get(name) ?? 'text';
  const turn = order.descending ? ' desc' : '';
  const names = order.columns.map(({ name }) => `"${name}"`);
  const view =
    asOf === null
      ? relationSql(perNodeView)
      : `${relationSql(`${perNodeView}_as_of`)}(${into.value(asOf, 'timestamptz')})`;
  const conditions = [
    'r.node = n.node',
    ...filters.map((one) => filterSql(one, typeOf(one.column), rowColumnSql(one.column), into)),
    ...(after ? [afterRowSql(order, after.values, typeOf, into)] : []),
  ];
  const text = `with recursive nodes as (
  (select r.node from ${view} as r order by r.node limit 1)
  union all
  select (select r.node from ${view} as r where r.node > n.node order by r.node limit 1) from nodes as n where n.node is not null
)
select ${order.columns.map(({ name }) => valueTextSql(typeOf(name), `k."${name}"`)).join(', ')}
from (
  select distinct f.* from nodes as n cross join lateral (
    select ${order.columns.map((one, at) => `${orderExpression(one)} as ${names[at]}`).join(', ')}
    from ${view} as r
    where ${conditions.join(' and ')}
    order by ${order.columns.map((one) => orderExpression(one) + turn).join(', ')}
    limit ${limit + 1}) as f
) as k
order by ${names.map((name) => `k.${name}${turn}`).join(', ')}
offset ${limit} limit 1`;
  const [last] = await sql.unsafe<Record<string, string | null>[]>(text, [...into.values]).values();
  return last
    ? { sort: order.sort, values: last.map((one) => (typeof one === 'string' ? one : null)) }
    : null;
}
