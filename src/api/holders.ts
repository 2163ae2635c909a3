import { fills } from '../datasets/dataset.ts';
import { condition } from './filters.ts';
import { columnOf, orderExpression, upTo } from './order.ts';
import type { OrderColumn, Readable } from './readable.ts';
import type { RowsQuestion } from './rows-question.ts';
import type { Statement } from './statement.ts';

/** Which rows the elements of a page are taken from. */
export interface Held {
  /** SQL: a FROM item of their keys. */
  readonly listed: string;
  /** SQL: an element `r` is one of the row `w`. */
  readonly same: string;
}

/**
 * The rows that a page of elements is taken from: each has an element at least, so that as many rows as the page has places are
 * enough, and each is then found by its key. All elements together are in no order, so that PostgreSQL would sort them.
 * @returns null: the view shows no elements, or is asked for in another order or by more than the key of what holds them
 */
export function heldIn(
  { holders }: Readable,
  { filters, after, limit, asOf, order }: RowsQuestion,
  typeOf: (name: string) => string,
  into: Statement,
): Held | null {
  if (!holders?.key.every(({ name }, at) => name === order.columns[at]?.name)) return null;
  const { key, list, view } = holders;
  const ofKey = new Set(key.map(({ name }) => name));
  if (!filters.every(({ column }) => ofKey.has(column))) return null;
  const begin = after?.values.slice(0, key.length) ?? [];
  if (begin.includes(null)) return null;
  const moment = asOf === null ? null : into.value(asOf, 'timestamptz');
  const wanted = [
    fills(list, 'r'),
    // Of `= 'array'` PostgreSQL expects one row in 200, and reads and sorts all of them.
    `jsonb_typeof(${columnOf(list)}) not in ('object', 'string', 'number', 'boolean', 'null')`,
    ...filters.map((one) => condition(one, typeOf(one.column), columnOf(one.column), into)),
    // The row of the last element may have more of them.
    ...(after ? [upTo({ ...order, columns: key, descending: !order.descending }, begin, typeOf, into)] : []),
  ];
  const turn = order.descending ? ' desc' : '';
  const inTurn = (expression: (column: OrderColumn) => string) =>
    key.map((one) => expression(one) + turn).join(', ');
  // Or none is left of it.
  const enough = `limit ${limit + (after ? 2 : 1)}`;
  const found = (from: string, where: readonly string[]) =>
    `(select ${key.map((one) => `${orderExpression(one)} as "${one.name}"`).join(', ')}
from reporting.${from} as r
where ${[...where, ...wanted].join('\n  and ')}
order by ${inTurn(orderExpression)}
${enough})`;
  const parts =
    moment === null
      ? [found(view, [])]
      : (holders.pastParts?.map((part) => found(part.view, [part.where(moment)])) ?? [
          found(`${holders.asOf}(${moment})`, []),
        ]);
  return {
    listed: `(select * from (${parts.join('\nunion all\n')}) as k
order by ${inTurn(({ name }) => `k."${name}"`)}
${enough})`,
    same: key.map((one) => `${orderExpression(one)} = w."${one.name}"`).join(' and '),
  };
}
