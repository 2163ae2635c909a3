import type { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import { type Cursor, cursorOf } from './cursor.ts';
import {
  addressed,
  type Filter,
  instant,
  MEANINGS,
  type Operator,
  operatorsOf,
  valuesOf,
  written,
} from './filters.ts';
import type { Order } from './row-query.ts';

/** The most rows of one answer, and how many there are unless told. */
export const MOST_ROWS = 1_000;
const ROWS = 100;

/** Parameters that every list has. Of a column with such a name, equality is asked by `NAME.eq`. */
export const GENERAL = ['columns', 'sort', 'after', 'limit', 'as_of', 'format'] as const;

/** A filter of a list, as a parameter. */
export interface FilterParameter {
  /** The name of the parameter. */
  readonly parameter: string;
  readonly column: string;
  readonly operator: Operator;
  /** PostgreSQL's type of the value. */
  readonly type: string;
  readonly description: string;
}

/** The filters of a list's columns. @param others names of parameters that the list has beside the general ones */
export function filtersOf(columns: readonly DeclaredColumn[], others: readonly string[]): FilterParameter[] {
  const taken = new Set<string>([...GENERAL, ...others]);
  return columns.flatMap((column) =>
    operatorsOf(column).map((operator) => {
      const { name, type } = column;
      const parameter = operator === 'eq' && !taken.has(name) ? name : `${name}.${operator}`;
      const description = `\`${name}\` ${MEANINGS[operator]} this.`;
      return { parameter, column: name, operator, type: operator === 'null' ? 'boolean' : type, description };
    }),
  );
}

/** The schemas of filters, by parameter. */
export const filterShape = (filters: readonly FilterParameter[]): Record<string, z.ZodType> =>
  Object.fromEntries(filters.map(({ parameter, type }) => [parameter, optional(type)]));

/** What every list of rows is asked for. */
export interface ListQuestion {
  readonly filters: readonly Filter[];
  readonly order: Order;
  /** The rows after this one; null: from the first. */
  readonly after: Cursor | null;
  readonly limit: number;
}

/** Reads what every list of rows is asked for: its filters, and {@link pageShape}. */
export const listIn = (
  filters: readonly FilterParameter[],
  order: Order,
  told: Told,
  context: z.RefinementCtx,
): ListQuestion => ({
  filters: filtersIn(filters, told),
  order,
  after: cursorIn(told, order, context),
  limit: Number(textOf(told, 'limit') ?? ROWS),
});

/** The filters that were asked for. */
export const filtersIn = (filters: readonly FilterParameter[], told: Told): Filter[] =>
  filters.flatMap(({ parameter, column, operator }) => {
    const value = textOf(told, parameter);
    return value === undefined ? [] : [{ column, operator, value }];
  });

/** Parameters that were checked. */
export type Told = Readonly<Record<string, unknown>>;

/** A parameter's text; undefined: it was not given. */
export const textOf = (told: Told, name: string): string | undefined =>
  typeof told[name] === 'string' ? told[name] : undefined;

/** The cursor in `after`; null: there is none. One of another order becomes an issue. */
function cursorIn(told: Told, { sort, columns }: Order, context: z.RefinementCtx): Cursor | null {
  const text = textOf(told, 'after');
  if (text === undefined) return null;
  const cursor = cursorOf(text);
  if (cursor?.sort === sort && cursor.values.length === columns.length) return cursor;
  context.addIssue({
    code: 'custom',
    path: ['after'],
    message: `must be the cursor "next" of a page of the same list, sorted by ${sort}`,
  });
  return null;
}

/** Where a page begins. A cursor is as long as the values of its row. */
const after = addressed
  .meta({ description: 'The cursor `next` of the page before: its rows follow.' })
  .optional();

/** The moment of `as_of`. */
export const asOf = instant
  .meta({
    description: 'The rows as they were known at this moment, such as 2026-03-20T12:00Z.',
    examples: ['2026-03-20T12:00Z'],
  })
  .optional();

/** Made once a type: there are thousands of filters. */
const optionals = new Map<string, z.ZodType>();

function optional(type: string): z.ZodType {
  const schema = optionals.get(type) ?? valuesOf(type).optional();
  optionals.set(type, schema);
  return schema;
}

/** How many rows. */
const limit = written
  .refine((text) => /^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_ROWS, {
    error: `must be a whole number from 1 to ${MOST_ROWS}`,
  })
  .meta({
    description: `How many rows at most; ${ROWS} unless told.`,
    type: 'integer',
    minimum: 1,
    maximum: MOST_ROWS,
    default: ROWS,
  })
  .optional();

/** The schemas of where a page begins, and of how many rows it has. */
export const pageShape = { after, limit };
