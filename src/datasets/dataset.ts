import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  numeric,
  type PgColumnBuilderBase,
  pgSchema,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Dataset, DatasetColumn, ElementFields, History } from './contract.ts';
import { columnOf, type FieldColumn, movingFields } from './fields.ts';
import { columnName, snakeCase } from './names.ts';
import { withRequestCheck } from './stated-request.ts';
import { requestColumns, SERIES_ID, seriesTableOf, tableKeyColumns } from './target-columns.ts';
import { unwrap } from './unwrap.ts';

type Declaration = Omit<Dataset, 'relation' | 'table' | 'seriesTable' | 'columns' | 'rename'> &
  Partial<Pick<Dataset, 'rename'>>;

/**
 * Creates a dataset from its declaration. The columns and the Drizzle table are derived from the schema of
 * the item.
 */
export function defineDataset(declaration: Declaration): Dataset {
  const { rename = {} } = declaration;
  const columns = columnsOf({ ...declaration, rename });
  const { name, history, key, numbered } = declaration;
  if (numbered && (history !== 'series' || !requestColumns({ columns }).every((one) => key.includes(one))))
    throw new Error(`${name}: a numbered series must have every request parameter in its key`);
  if ((history === 'series') !== (declaration.interval !== undefined))
    throw new Error(`${name}: only a series has an interval, and a series requires one`);
  return {
    ...declaration,
    relation: declaration.everyNode ? `node_${name}` : name,
    items: withRequestCheck(declaration),
    rename,
    columns,
    table: tableOf(declaration, columns),
    seriesTable: declaration.numbered ? seriesOf({ ...declaration, columns }) : null,
  };
}

/** Returns the columns that come from the upstream: those of the request, then those of the item. */
export function columnsOf({
  request,
  item,
  rename,
}: Pick<Dataset, 'request' | 'item' | 'rename'>): DatasetColumn[] {
  const requestedColumns = request.map(
    (key): DatasetColumn => ({
      name: snakeCase(key),
      type: 'text',
      nullable: false,
      path: [],
      comment: `Requested: the target's ${key}.`,
    }),
  );
  return [...requestedColumns, ...itemColumns(item, [], false, rename)];
}

/**
 * Returns the columns for the schema of an item: one per leaf (two for a lock time). Nested objects are
 * flattened.
 */
function itemColumns(
  schema: z.ZodObject,
  outer: readonly string[],
  outerNullable: boolean,
  rename: Readonly<Record<string, string>>,
): DatasetColumn[] {
  return Object.entries(schema.shape).flatMap(([name, member]): DatasetColumn[] => {
    const path = [...outer, name];
    const { inner, nullable } = unwrap(member);
    if (inner instanceof z.ZodObject) {
      const within = itemColumns(inner, path, outerNullable || nullable, rename);
      return movingFields.has(member) ? within.map((column) => ({ ...column, moves: true })) : within;
    }
    const column = columnOf(inner);
    if (!column) throw new Error(`field ${path.join('.')} has a schema without a column type`);
    const ofUpstream = ({ type, meaning, element, digits }: FieldColumn) => ({
      type,
      path,
      ...(digits ? { digits } : {}),
      comment: `${meaning ? `${meaning} ` : ''}Upstream field ${path.join('.')}.`,
      ...(element ? { element } : {}),
      ...(element instanceof z.ZodObject ? { elementMoves: listMovingFields(element, []) } : {}),
      ...(movingFields.has(member) ? { moves: true as const } : {}),
    });
    const own = rename[path.join('.')] ?? columnName(path);
    const mayMiss = outerNullable || nullable;
    if (!column.raw) return [{ name: own, nullable: mayMiss, ...ofUpstream(column) }];
    return [
      { name: own, nullable: true, part: 'value', ...ofUpstream(column) },
      { name: `${own}_raw`, nullable: mayMiss, part: 'raw', ...ofUpstream(column.raw) },
    ];
  });
}

/** Returns the fields of a list element that `moves()` marks, by the object that contains them. */
function listMovingFields(element: z.ZodObject, path: readonly string[]): ElementFields[] {
  const members = Object.entries(element.shape);
  const fields = members.filter(([, member]) => movingFields.has(member)).map(([name]) => name);
  const within = members.flatMap(([name, member]) => {
    const { inner } = unwrap(member);
    return inner instanceof z.ZodObject && !fields.includes(name)
      ? listMovingFields(inner, [...path, name])
      : [];
  });
  return fields.length > 0 ? [{ path, fields }, ...within] : within;
}

const recorderSchema = pgSchema('recorder');

const builders: Record<string, () => PgColumnBuilderBase & { notNull(): PgColumnBuilderBase }> = {
  text: () => text(),
  numeric: () => numeric(),
  bigint: () => bigint({ mode: 'bigint' }),
  boolean: () => boolean(),
  timestamptz: () => timestamp({ withTimezone: true }),
  jsonb: () => jsonb(),
  'double precision': () => doublePrecision(),
};

const instant = () => timestamp({ withTimezone: true });

const runColumns = () => ({ run_id: bigint({ mode: 'bigint' }).notNull() });

/**
 * Columns for missing members. `missed_walks`, `missed_since`: number of consecutive complete walks that
 * missed a member, and the time of the first of these walks. Null if the last walk contained the member.
 * `confirmed_at`: time at which the absence was confirmed and recorded, if later than the end; else null.
 */
const absenceColumns = () => ({ missed_walks: integer(), missed_since: instant(), confirmed_at: instant() });

const pointColumns = () => ({
  valid_from: instant().notNull(),
  valid_to: instant(),
  vanished: boolean().notNull().default(false),
  ...runColumns(),
});

/** Columns that each kind of history adds to those of the upstream. */
const historyColumns: Record<History, () => Record<string, PgColumnBuilderBase>> = {
  series: () => pointColumns(),
  // `ended_by`: `changed`, `gone` or `unwatched`. Null: the version has not ended.
  state: () => ({
    valid_from: instant().notNull(),
    valid_to: instant(),
    ended_by: text(),
    ...absenceColumns(),
    ...runColumns(),
  }),
  // `valid_to`: end of the time for which the row was current. Null: the row is still current.
  log: () => ({ valid_from: instant().notNull(), valid_to: instant(), ...runColumns() }),
  sample: () => ({ observed_at: instant().notNull(), ...runColumns() }),
};

type Shape = Record<string, PgColumnBuilderBase>;

const shapeOf = (name: string, columns: readonly DatasetColumn[]): Shape =>
  Object.fromEntries(
    columns.map(({ name: column, type, nullable }) => {
      const builder = builders[type];
      if (!builder) throw new Error(`${name}.${column}: no Drizzle column for type ${type}`);
      return [column, nullable ? builder() : builder().notNull()];
    }),
  );

/** Types of eight bytes, which PostgreSQL aligns to eight bytes. */
const EIGHT_BYTES: ReadonlySet<string> = new Set(['timestamptz', 'bigint', 'double precision']);

/**
 * Returns the columns of a numbered table. Those of eight bytes come first, so that rows have no padding
 * between them.
 */
function numberedShape(name: string, all: readonly DatasetColumn[]): Shape {
  const own = all.filter(({ path }) => path.length > 0);
  const { vanished, ...ofEight } = pointColumns();
  return {
    ...shapeOf(
      name,
      own.filter(({ type }) => EIGHT_BYTES.has(type)),
    ),
    ...ofEight,
    [SERIES_ID]: integer().notNull(),
    vanished,
    ...shapeOf(
      name,
      own.filter(({ type }) => !EIGHT_BYTES.has(type)),
    ),
    extra: jsonb(),
  };
}

/** Returns the table with the request values of a numbered dataset, by number. */
function seriesOf(dataset: Pick<Dataset, 'name' | 'columns'>) {
  const name = seriesTableOf(dataset);
  const request = dataset.columns.filter(({ path }) => path.length === 0);
  return recorderSchema.table(
    name,
    { [SERIES_ID]: integer().primaryKey().generatedAlwaysAsIdentity(), ...shapeOf(name, request) },
    () => [uniqueIndex(`${name}_key`).on(sql.raw(requestColumns(dataset).join(', ')))],
  );
}

function tableOf(declaration: Declaration, all: readonly DatasetColumn[]) {
  const { name, history, single, seldom = [], byMoment = false, numbered } = declaration;
  const key = tableKeyColumns({ ...declaration, columns: all });
  const shape = numbered
    ? numberedShape(name, all)
    : { ...shapeOf(name, all), extra: jsonb(), ...historyColumns[history]() };
  const byName = new Map(all.map((column) => [column.name, column]));
  const inIndex = (columns: readonly string[]) =>
    sql.raw(columns.map((column) => keyColumnSql(column, byName.get(column)?.nullable ?? false)).join(', '));
  const keyExpression = inIndex(key);
  const requested = requestColumns({ columns: all });
  // Without statistics, PostgreSQL estimates the same cost for each index, and uses the last one. The index
  // of the key therefore comes after other indexes of the same rows, which would read all rows for each
  // lookup.
  const withoutRequest = (columns: readonly string[]) =>
    columns.filter((column) => !requested.includes(column));
  const indexes = () => {
    switch (history) {
      case 'log':
        return [
          ...(single
            ? [
                index(`${name}_single`)
                  .on(inIndex(withoutRequest(single)))
                  .where(sql`valid_to is null`),
              ]
            : []),
          uniqueIndex(`${name}_key`).on(keyExpression).where(sql`valid_to is null`),
          index(`${name}_superseded`).on(keyExpression).where(sql`valid_to is not null`),
          timeIndex(`${name}_recorded`, 'valid_from'),
        ];
      case 'sample':
        return [
          uniqueIndex(`${name}_key`).on(sql`${keyExpression}, observed_at`),
          // Rows are deleted when their day is closed, so that the index is small.
          index(`${name}_read`).on(sql`observed_at`),
        ];
      case 'state':
        return [
          // Finds the current rows of a target after a complete walk, if the key does not contain the
          // request.
          ...(requested.every((one) => declaration.key.includes(one))
            ? []
            : [index(`${name}_requested`).on(inIndex(requested)).where(sql`valid_to is null`)]),
          uniqueIndex(`${name}_now`).on(keyExpression).where(sql`valid_to is null`),
          // Without the instant, the B-tree deduplicates the key and stores six bytes per version.
          index(`${name}_history`).on(keyExpression),
          // Finds members that left recently. Members rarely leave, so that the index is small.
          index(`${name}_gone`).on(sql`valid_to`).where(sql`ended_by <> 'changed'`),
          timeIndex(`${name}_began`, 'valid_from'),
          ...(byMoment ? [index(`${name}_held`).using('gist', sql.raw(VALIDITY_RANGE))] : []),
        ];
      case 'series':
        return [
          uniqueIndex(`${name}_now`).on(keyExpression).where(sql.raw(POINT_VALUES.last)),
          index(`${name}_history`).on(sql`${keyExpression}, valid_from`).where(sql.raw(POINT_VALUES.before)),
          timeIndex(`${name}_recorded`, 'valid_from'),
          // Finds recently revised points. The index has an entry only for a version that ended.
          index(`${name}_revised`).on(sql`valid_to`).where(sql`valid_to is not null`),
        ];
    }
  };
  // These indexes include superseded versions, because queries of an earlier moment use them, too.
  const filled = seldom.map((column) =>
    index(`${name}_${column}_filled`)
      .on(keyExpression)
      .where(sql.raw(hasElementsSql(column))),
  );
  return recorderSchema.table(name, shape, () => [...indexes(), ...filled]);
}

/**
 * SQL: period of validity of a version of a list, as it is indexed. A range with its end before its start
 * would be an error; for such a version the range is empty.
 */
export const VALIDITY_RANGE = 'tstzrange(least(valid_from, valid_to), valid_to)';

/**
 * SQL: predicates that divide the rows of a series into two parts, each with its own index. PostgreSQL uses
 * these indexes only if a query contains the predicate. So a query of both parts must query each part
 * separately.
 */
export const POINT_VALUES = {
  /** SQL: predicate of the last known value of each point. */
  last: 'valid_to is null or vanished',
  /** SQL: predicate of the earlier values of each point. */
  before: 'valid_to is not null and not vanished',
} as const;

/**
 * Creates an index for the rows of a time range. Rows are stored approximately in the order of insertion, so
 * that a BRIN index of a few kilobytes per gigabyte is sufficient. The index stores several intervals per
 * block range, because new rows reuse the space of old ones.
 */
const timeIndex = (name: string, column: string) =>
  index(name)
    .using('brin', sql.raw(`${column} timestamptz_minmax_multi_ops`))
    .with({ autosummarize: true });

/** SQL: condition that a list has elements. */
export const hasElementsSql = (column: string, alias?: string) =>
  `${alias ? `${alias}.` : ''}${column} <> '[]'::jsonb`;

/** SQL: a key column for an index or a join. Two null values of a key are equal. */
export function keyColumnSql(column: string, nullable: boolean, alias?: string): string {
  const name = alias ? `${alias}.${column}` : column;
  return nullable ? `coalesce(${name}, '')` : name;
}
