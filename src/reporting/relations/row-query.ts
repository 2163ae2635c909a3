import { z } from 'zod';
import type { DeclaredColumn, DeclaredParameter } from '../../db/declared.ts';
import { naturalKeyOf } from '../views/relation-keys.ts';
import type { Cursor } from './cursor.ts';
import { getValueSchema, limitedText } from './filters.ts';
import {
  asOf,
  filterShape,
  getParamText,
  type ListQuery,
  listFilterParameters,
  type ParsedParams,
  pageShape,
  parseListQuery,
} from './list-parameters.ts';
import { MAX_SORT_CHARACTERS } from './order.ts';
import { type OrderColumn, orderedColumns, type Relation } from './relation.ts';

/** A query for rows of a {@link Relation}. */
export interface RowsQuery extends ListQuery {
  /** The requested columns, in order. */
  readonly columns: readonly DeclaredColumn[];
  /** Returns the rows as known at this moment, in PostgreSQL's format; null: now. */
  readonly asOf: string | null;
  /** The last row of the page, inclusive. Absent: no bound. */
  readonly last?: Cursor;
  /** Arguments of a function. A cursor with a moment sets `as_of`. */
  readonly args: Readonly<Record<string, string>>;
}

/** The order of rows: by a column, then by the rest of the key, all in one direction. */
export interface Order {
  /**
   * Order in the format of the parameter `sort`: the name of a column, with a leading `-` for descending
   * order.
   */
  readonly sort: string;
  readonly columns: readonly TypedOrderColumn[];
  readonly descending: boolean;
}

/** A column of an order, with its PostgreSQL type. */
export interface TypedOrderColumn extends OrderColumn {
  readonly type: string;
}

/** The schema of the parameters of a list. */
export type RowsParameters = z.ZodType<RowsQuery>;

const made = new WeakMap<Relation, RowsParameters>();

/**
 * Returns the schema of the parameters of a {@link Relation}, each with its description. The schema
 * transforms the parameters into a query.
 */
export function rowsParameters(relation: Relation): RowsParameters {
  const known = made.get(relation);
  if (known) return known;
  const names = relation.columns.map(({ name }) => name);
  const parameters = relation.parameters ?? [];
  const filters = listFilterParameters(
    relation.columns,
    parameters.map(({ name }) => name),
  );
  const shape: Record<string, z.ZodType> = {
    ...Object.fromEntries(parameters.map((one) => [one.name, parameter(one)])),
    ...filterShape(filters),
    columns: columnList(names).optional(),
    sort: sortSchema(relation).optional(),
    ...pageShape,
    ...(relation.asOf === null ? {} : { as_of: asOf }),
  };
  const schema = z
    .strictObject(shape, { error: (issue) => unknown(issue, relation, Object.keys(shape)) })
    .transform((params: ParsedParams, context): RowsQuery => {
      const requested = getParamText(params, 'columns')?.split(',') ?? names;
      const list = parseListQuery(
        filters,
        parseSort(relation, getParamText(params, 'sort')),
        params,
        context,
      );
      const pagesAsOf = isOrderedByValues(relation) ? list.after?.asOf : undefined;
      return {
        ...list,
        columns: relation.columns.filter(({ name }) => requested.includes(name)),
        asOf: getParamText(params, 'as_of') ?? null,
        args: {
          ...(pagesAsOf === undefined ? {} : { as_of: pagesAsOf }),
          ...Object.fromEntries(
            parameters.flatMap(({ name }) => {
              const text = getParamText(params, name);
              return text === undefined ? [] : [[name, text]];
            }),
          ),
        },
      };
    });
  made.set(relation, schema);
  return schema;
}

/**
 * Returns true for a function without a key. Its order depends on values that may change, so all its pages are
 * as of the moment of the first page, which the cursor contains.
 */
export const isOrderedByValues = ({ name, parameters }: Relation): boolean =>
  naturalKeyOf(name) === null && parameters?.some((parameter) => parameter.name === 'as_of') === true;

/** Returns the order for a value of `sort`. Default: by the key. */
export function parseSort({ key, columns }: Relation, sort = key[0]?.name ?? ''): Order {
  const descending = sort.startsWith('-');
  const first = sort.replace(/^-/, '');
  const known = key.find(({ name }) => name === first);
  const declared = columns.find(({ name }) => name === first);
  const by = known ?? {
    name: first,
    nullable: !declared?.notNull,
    ...(declared?.type === 'text' ? { byPrefix: true } : {}),
  };
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const ordered = [by, ...key.filter((one) => one !== known)];
  return {
    sort,
    descending,
    columns: ordered.map((one) => ({ ...one, type: types.get(one.name) ?? 'text' })),
  };
}

const columnList = (names: readonly string[]) =>
  limitedText
    .superRefine((text, context) => {
      const unknown = text.split(',').filter((name) => !names.includes(name));
      if (unknown.length > 0)
        context.addIssue(`has no column ${unknown.join(', ')}; there are ${names.join(', ')}`);
    })
    .meta({ description: `Columns, separated by commas. Default: all.` });

function sortSchema(relation: Relation) {
  const names = orderedColumns(relation).map(({ name }) => name);
  return z
    .enum([...names, ...names.map((name) => `-${name}`)], {
      error: ({ input }) =>
        Array.isArray(input)
          ? 'is given more than once'
          : `must be one of ${names.join(', ')}; a leading - sorts in descending order`,
    })
    .meta({
      description: `Column to sort by, followed by the rest of the key. A leading \`-\` sorts in descending order. Texts outside the key are compared by their first ${MAX_SORT_CHARACTERS} characters. Default: ${relation.key[0]?.name}.`,
    });
}

function parameter({ type, comment, preset }: DeclaredParameter) {
  const values = getValueSchema(type);
  const described = values.meta({ ...values.meta(), description: comment });
  return preset === undefined ? described : described.optional();
}

function unknown(
  issue: { readonly code?: string | undefined; readonly keys?: unknown },
  { noPast, asOf, parameters }: Relation,
  known: readonly string[],
): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const keys = Array.isArray(issue.keys) ? issue.keys.map(String) : [];
  const past = asOf === null && !parameters?.some(({ name }) => name === 'as_of');
  return keys.includes('as_of') && past ? noPast : `there are ${known.join(', ')}`;
}
