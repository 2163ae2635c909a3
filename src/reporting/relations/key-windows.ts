import type postgres from 'postgres';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { relationSql } from '../views/declared-objects.ts';
import { getCatalogue } from './catalogue.ts';
import type { Cursor } from './cursor.ts';
import { filterSql } from './filters.ts';
import { afterRowSql, orderExpression } from './order.ts';
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
  const { dataset, perNodeView, key } = relation;
  const { order, filters, after, limit, asOf } = query;
  const ofKey = new Set(key.map(({ name }) => name));
  const inTurn = order.columns.every(({ name }, at) => name === key[at]?.name);
  if (!perNodeView || !dataset || !inTurn || !filters.every(({ column }) => ofKey.has(column))) return null;
  const into = new StatementBuilder();
  const turn = order.descending ? ' desc' : '';
  const names = order.columns.map(({ name }) => `"${name}"`);
  const conditions = [
    'r.node = n.node',
    ...filters.map((one) => filterSql(one, into)),
    ...(after ? [afterRowSql(order, after.values, into)] : []),
  ];
  const expressions = order.columns.map(orderExpression);
  const firstKeys = nodeRowsSql(perNodeView, asOf, into).map(
    ({ from, where }) => `(
    select ${expressions.map((one, at) => `${one} as ${names[at]}`).join(', ')}
    from ${from} as r
    where ${[...conditions, ...where].join(' and ')}
    order by ${expressions.map((one) => one + turn).join(', ')}
    limit ${limit + 1})`,
  );
  const text = `select ${order.columns.map(({ name, type }) => valueTextSql(type, `k."${name}"`)).join(', ')}
from (
  select distinct f.* from (
    select distinct t.target ->> 'node' as node from ${tableText(targetDatasets)} d join ${tableText(targets)} t using (source, target_key)
    where d.dataset = ${into.value(dataset, 'text')}) as n
  cross join lateral (${firstKeys.join(' union all ')}) as f
) as k
order by ${names.map((name) => `k.${name}${turn}`).join(', ')}
offset ${limit} limit 1`;
  const [last] = await sql.unsafe<Record<string, string | null>[]>(text, [...into.values]).values();
  return last
    ? { sort: order.sort, values: last.map((one) => (typeof one === 'string' ? one : null)) }
    : null;
}

/**
 * Returns the rows of each node in parts that can each be read in key order: FROM items for `r`, and
 * conditions.
 */
function nodeRowsSql(view: string, asOf: string | null, into: StatementBuilder) {
  if (asOf === null) return [{ from: relationSql(view), where: [] }];
  const at = into.value(asOf, 'timestamptz');
  const parts = getCatalogue().views.get(view)?.pastParts;
  return (
    parts?.map((part) => ({ from: relationSql(part.view), where: [part.where(at)] })) ?? [
      { from: `${relationSql(`${view}_as_of`)}(${at})`, where: [] },
    ]
  );
}
