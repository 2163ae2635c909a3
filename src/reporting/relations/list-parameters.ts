import type { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import { type Cursor, parseCursor } from './cursor.ts';
import {
  type Filter,
  getValueSchema,
  instantParam,
  limitedText,
  OPERATOR_DESCRIPTIONS,
  type Operator,
  operatorsOf,
  urlText,
} from './filters.ts';
import type { Order } from './row-query.ts';

/** Maximum number of rows per response. */
export const MAX_ROWS = 1_000;
/** Default number of rows per response. */
const DEFAULT_ROWS = 100;

/** Parameters of every list. A column with the same name is filtered for equality by `NAME.eq`. */
export const GENERAL_PARAMETERS = ['columns', 'sort', 'after', 'limit', 'as_of', 'format'] as const;

/** A filter of a list, as a parameter. */
export interface FilterParameter {
  readonly parameter: string;
  readonly column: string;
  readonly operator: Operator;
  /** The PostgreSQL type of the value. */
  readonly type: string;
  readonly description: string;
}

/**
 * Returns the filters of the columns of a list.
 * @param others names of other parameters of the list, besides {@link GENERAL_PARAMETERS}
 */
export function listFilterParameters(
  columns: readonly DeclaredColumn[],
  others: readonly string[],
): FilterParameter[] {
  const reservedNames = new Set<string>([...GENERAL_PARAMETERS, ...others]);
  return columns.flatMap((column) =>
    operatorsOf(column).map((operator) => {
      const { name, type } = column;
      const parameter = operator === 'eq' && !reservedNames.has(name) ? name : `${name}.${operator}`;
      const description = `\`${name}\` ${OPERATOR_DESCRIPTIONS[operator]} this.`;
      return { parameter, column: name, operator, type: operator === 'null' ? 'boolean' : type, description };
    }),
  );
}

/** Returns the schemas of filters, by parameter. */
export const filterShape = (filters: readonly FilterParameter[]): Record<string, z.ZodType> =>
  Object.fromEntries(filters.map(({ parameter, type }) => [parameter, getOptionalSchema(type)]));

/** The common parameters of all list queries. */
export interface ListQuery {
  readonly filters: readonly Filter[];
  readonly order: Order;
  /** The last row of the previous page; null for the first page. */
  readonly after: Cursor | null;
  readonly limit: number;
}

/** Parses the common parameters of a list: its filters, and {@link pageShape}. */
export const parseListQuery = (
  filters: readonly FilterParameter[],
  order: Order,
  params: ParsedParams,
  context: z.RefinementCtx,
): ListQuery => ({
  filters: parseFilters(filters, params),
  order,
  after: parseCursorParameter(params, order, context),
  limit: Number(getParamText(params, 'limit') ?? DEFAULT_ROWS),
});

/** Returns the requested filters. */
export const parseFilters = (filters: readonly FilterParameter[], params: ParsedParams): Filter[] =>
  filters.flatMap(({ parameter, column, type, operator }) => {
    const value = getParamText(params, parameter);
    return value === undefined ? [] : [{ column, type, operator, value }];
  });

/** Validated parameters. */
export type ParsedParams = Readonly<Record<string, unknown>>;

/** Returns the text of a parameter; undefined if the parameter is absent. */
export const getParamText = (params: ParsedParams, name: string): string | undefined =>
  typeof params[name] === 'string' ? params[name] : undefined;

/**
 * Returns the cursor in `after`, or null if the parameter is absent. Adds an issue if the cursor belongs to
 * another order.
 */
function parseCursorParameter(
  params: ParsedParams,
  { sort, columns }: Order,
  context: z.RefinementCtx,
): Cursor | null {
  const text = getParamText(params, 'after');
  if (text === undefined) return null;
  const cursor = parseCursor(text);
  if (cursor?.sort === sort && cursor.values.length === columns.length) return cursor;
  context.addIssue({
    code: 'custom',
    path: ['after'],
    message: `must be the cursor "next" of a page of the same list, sorted by ${sort}`,
  });
  return null;
}

/**
 * The schema of the start of a page. The length of a cursor depends on the values of its row, so it has no
 * maximum.
 */
const after = urlText.meta({ description: 'The cursor `next` of the previous page.' }).optional();

/** The schema of the moment `as_of`. */
export const asOf = instantParam
  .meta({
    description: 'Returns the rows as of this moment, such as 2026-03-20T12:00Z.',
    examples: ['2026-03-20T12:00Z'],
  })
  .optional();

/** Schemas of optional filters by type. There are thousands of filters, so each schema is created once. */
const optionals = new Map<string, z.ZodType>();

function getOptionalSchema(type: string): z.ZodType {
  const schema = optionals.get(type) ?? getValueSchema(type).optional();
  optionals.set(type, schema);
  return schema;
}

/** The schema of the maximum number of rows of a page. */
const limit = limitedText
  .refine((text) => /^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_ROWS, {
    error: `must be a whole number from 1 to ${MAX_ROWS}`,
  })
  .meta({
    description: `Maximum number of rows. Default: ${DEFAULT_ROWS}.`,
    type: 'integer',
    minimum: 1,
    maximum: MAX_ROWS,
    default: DEFAULT_ROWS,
  })
  .optional();

/** The schemas of the start of a page and of its number of rows. */
export const pageShape = { after, limit };
