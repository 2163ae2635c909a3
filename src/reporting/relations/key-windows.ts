import type postgres from 'postgres';
import type { Cursor } from './cursor.ts';
import { condition } from './filters.ts';
import { columnOf, following, orderExpression } from './order.ts';
import type { Readable } from './readable.ts';
import type { RowsQuestion } from './row-query.ts';
import { Statement } from './statement.ts';
import { textOf } from './values.ts';

/**
 * Finds the last key of the first page of a view over all nodes. The rows of each node have an index that
 * starts with the node, so the first keys of each node are found fast; those of the page are among them. The
 * view itself would be computed for all keys.
 * @returns the key after the last one of the page. Null if the relation is no such view, or there are no more
 * keys than fit on a page. Null if the query has another order, filters on columns outside the key, or is as
 * of a past moment
 */
export async function lastKeyOf(
  sql: postgres.Sql,
  readable: Readable,
  question: RowsQuestion,
): Promise<Cursor | null> {
  const { toldBy, key, columns } = readable;
  const { order, filters, after, limit, asOf } = question;
  const ofKey = new Set(key.map(({ name }) => name));
  const inTurn = order.columns.every(({ name }, at) => name === key[at]?.name);
  if (!toldBy || asOf !== null || !inTurn || !filters.every(({ column }) => ofKey.has(column))) return null;
  const into = new Statement();
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const typeOf = (name: string) => types.get(name) ?? 'text';
  const turn = order.descending ? ' desc' : '';
  const names = order.columns.map(({ name }) => `"${name}"`);
  const view = `reporting.${toldBy}`;
  const wanted = [
    'r.node = n.node',
    ...filters.map((one) => condition(one, typeOf(one.column), columnOf(one.column), into)),
    ...(after ? [following(order, after.values, typeOf, into)] : []),
  ];
  const text = `with recursive nodes as (
  (select r.node from ${view} as r order by r.node limit 1)
  union all
  select (select r.node from ${view} as r where r.node > n.node order by r.node limit 1) from nodes as n where n.node is not null
)
select ${order.columns.map(({ name }) => textOf(typeOf(name), `k."${name}"`)).join(', ')}
from (
  select distinct f.* from nodes as n cross join lateral (
    select ${order.columns.map((one, at) => `${orderExpression(one)} as ${names[at]}`).join(', ')}
    from ${view} as r
    where ${wanted.join(' and ')}
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
