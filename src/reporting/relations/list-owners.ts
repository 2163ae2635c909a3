import { fills } from '../../datasets/dataset.ts';
import { condition } from './filters.ts';
import { columnOf, orderExpression, upTo } from './order.ts';
import type { OrderColumn, Readable } from './readable.ts';
import type { RowsQuestion } from './row-query.ts';
import type { Statement } from './statement.ts';

/** Which rows the elements of a page are taken from. */
export interface Held {
  /** SQL: a FROM item of their keys. */
  readonly listed: string;
  /** SQL: a FROM item of the elements of the row `w`. */
  readonly elements: string;
}

/**
 * The rows that a page of elements is taken from: each has an element at least, so that as many rows as the page has places are
 * enough, and each is then found by its key. All elements together are in no order, so that PostgreSQL would sort them.
 * @returns null: the view shows no elements, or is asked for in another order or by more than the key of what holds them
 */
export function heldIn(
  { name, asOf: ofMoment, holders }: Readable,
  { filters, after, limit, asOf, order }: RowsQuestion,
  typeOf: (name: string) => string,
  into: Statement,
): Held | null {
  if (!holders?.key.every(({ name }, at) => name === order.columns[at]?.name)) return null;
  const { key, list, view, pastParts } = holders;
  // Where the rows of a moment are in one place, their elements are in the order of its index.
  if (asOf !== null && !pastParts) return null;
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
  const record = moment === null ? [] : [`reporting.has_record(${into.value(view, 'text')}, ${moment})`];
  const parts = (moment === null ? [null] : (pastParts ?? [])).map(
    (
      part,
      number,
    ) => `(select ${key.map((one) => `${orderExpression(one)} as "${one.name}"`).join(', ')}, ${number} as part
from reporting.${part?.view ?? view} as r
where ${[...(part && moment !== null ? [part.where(moment)] : []), ...record, ...wanted].join('\n  and ')}
order by ${inTurn(orderExpression)}
${enough})`,
  );
  const same = key.map((one) => `${orderExpression(one)} = w."${one.name}"`).join(' and ');
  // What was shown then and is shown now has the elements that it has now; only others are asked for as of then.
  const elements = [
    `select * from reporting.${name} as r where w.part = 0 and ${same}`,
    ...(moment === null
      ? []
      : [`select * from reporting.${ofMoment}(${moment}) as r where w.part > 0 and ${same}`]),
  ];
  return {
    listed: `(select * from (${parts.join('\nunion all\n')}) as k
order by ${inTurn(({ name: column }) => `k."${column}"`)}
${enough})`,
    elements: `(${elements.join('\nunion all\n')} offset 0)`,
  };
}
