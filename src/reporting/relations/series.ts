import type postgres from 'postgres';
import { z } from 'zod';
import { SERIES_ID } from '../../datasets/target-columns.ts';
import type { DeclaredColumn } from '../../db/declared.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { relationSql } from '../views/declared-objects.ts';
import type { DatasetRelations } from './catalogue.ts';
import { type PointsSource, readDownsampled } from './downsample.ts';
import type { PointsSql } from './downsample-sql.ts';
import { type Filter, filterSql, instantParam, limitedText } from './filters.ts';
import {
  asOf,
  filterShape,
  getParamText,
  listFilterParameters,
  type ParsedParams,
  parseFilters,
} from './list-parameters.ts';
import { rowColumnSql } from './order.ts';
import type { Relation } from './relation.ts';
import { pastPartsOf } from './rows.ts';
import { ofFilteredSeries } from './series-numbers.ts';
import type { StatementBuilder } from './statement.ts';
import { readValue, type Value } from './values.ts';
import { versionsKnownAt } from './versions.ts';

/** A series of points of one column over time, downsampled so that extremes are kept. */
export interface Series {
  readonly column: string;
  readonly time: string;
  /** Time and value, by time. Values are exact, as in rows. */
  readonly points: readonly (readonly [at: Value, value: Value])[];
  /** The number of points in the window. */
  readonly of: number;
  /** True if points were omitted. Of each bucket, the first, last, minimum and maximum point are kept. */
  readonly thinned: boolean;
  /**
   * Points before this moment were not read, because the time limit was reached. Null: all points were read.
   */
  readonly unread_before: string | null;
}

/** A query for a series, in PostgreSQL's format. */
export interface SeriesQuery {
  readonly column: DeclaredColumn;
  readonly time: string;
  readonly filters: readonly Filter[];
  readonly from: string | null;
  readonly to: string | null;
  readonly asOf: string | null;
  readonly buckets: number;
}

/** Numeric types. */
export const NUMERIC_TYPES: ReadonlySet<string> = new Set([
  'numeric',
  'bigint',
  'integer',
  'double precision',
]);
/** Default number of buckets of a window. */
const DEFAULT_BUCKETS = 500;
/** Maximum number of buckets of a window. */
const MAX_BUCKETS = 5_000;
/** Time budget for reading a series, in ms. */
const READ_BUDGET_MS = 10_000;

/** The relation with the points of a dataset, and the filters that select one entity. */
export interface SeriesSource {
  readonly relation: Relation;
  /** The columns that can be drawn. */
  readonly values: readonly DeclaredColumn[];
  /** The columns with times. */
  readonly times: readonly DeclaredColumn[];
  /** The default time column. */
  readonly time: string;
  /** The columns that distinguish series; each requires a filter. */
  readonly needed: readonly string[];
}

/** Returns the source of the points of a dataset. Returns null if the dataset has no numbers over time. */
export function findSeriesSource({
  kind,
  key,
  request,
  now,
  history,
  begins,
}: DatasetRelations): SeriesSource | null {
  const versioned = kind === 'state' || kind === 'ledger';
  const relation = versioned && history ? history : now;
  const times = relation.columns.filter(({ type }) => type === 'timestamptz');
  const isTime = (name: string) => times.some((one) => one.name === name);
  const ofThing = key.find(isTime) ?? times.find(({ name }) => name !== begins)?.name;
  const time = kind === 'series' || kind === 'log' ? (ofThing ?? begins) : begins;
  const values = relation.columns.filter(
    ({ name, type }) =>
      NUMERIC_TYPES.has(type) && name !== 'run_id' && name !== SERIES_ID && !key.includes(name),
  );
  const heights =
    kind === 'log' ? relation.columns.filter(({ name }) => name === 'height' && key.includes(name)) : [];
  if (values.length + heights.length === 0) return null;
  const parts = kind === 'log' ? request : key;
  return {
    relation,
    values: [...values, ...heights],
    times,
    time,
    needed: parts.filter((name) => name !== time && now.columns.some((column) => column.name === name)),
  };
}

/** Returns the schema of the parameters of {@link readSeries}. */
export function seriesParameters(source: SeriesSource): z.ZodType<SeriesQuery> {
  const { relation, values, times, time, needed } = source;
  const filters = listFilterParameters(relation.columns, ['column', 'time', 'from', 'to', 'buckets']);
  const names = values.map(({ name }) => name);
  const one = (all: readonly string[], description: string) =>
    z
      .enum(all, {
        error: ({ input }) =>
          Array.isArray(input) ? 'is given more than once' : `must be one of ${all.join(', ')}`,
      })
      .meta({ description });
  const window = (description: string) =>
    instantParam.meta({ ...instantParam.meta(), description }).optional();
  const shape = {
    column:
      names.length === 1
        ? one(names, 'Column of the values.').optional()
        : one(names, 'Column of the values.'),
    time: one(
      times.map(({ name }) => name),
      `Column of the times. Default: ${time}.`,
    ).optional(),
    from: window('Start of the window. Default: the first point.'),
    to: window('End of the window, exclusive. Default: after the last point.'),
    buckets: limitedText
      .refine((text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_BUCKETS, {
        error: `must be a whole number from 1 to ${MAX_BUCKETS}`,
      })
      .meta({
        description: `Number of equal parts of the window. At most four points of each part are returned. Default: ${DEFAULT_BUCKETS}.`,
        type: 'integer',
        minimum: 1,
        maximum: MAX_BUCKETS,
        default: DEFAULT_BUCKETS,
      })
      .optional(),
    as_of: asOf,
    ...filterShape(filters),
  };
  return z.strictObject(shape).transform((params: ParsedParams, context): SeriesQuery => {
    const parsedFilters = parseFilters(filters, params);
    for (const name of needed)
      if (
        !parsedFilters.some(
          ({ column, operator, value }) =>
            column === name && (operator === 'eq' || (operator === 'null' && value === 'true')),
        )
      )
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is required: without it one line would mix points of different entities',
        });
    const column = values.find(({ name }) => name === (getParamText(params, 'column') ?? names[0]));
    return {
      column: column ?? { name: '', type: '', comment: '' },
      time: getParamText(params, 'time') ?? time,
      filters: parsedFilters,
      from: getParamText(params, 'from') ?? null,
      to: getParamText(params, 'to') ?? null,
      asOf: getParamText(params, 'as_of') ?? null,
      buckets: Number(getParamText(params, 'buckets') ?? DEFAULT_BUCKETS),
    };
  });
}

/**
 * Reads a series. If there are more points than the buckets can contain, the series is downsampled, within a
 * time budget ({@link readDownsampled}).
 * @throws PostgresError 22023 if there is no record at the moment of `as_of`
 */
export async function readSeries(
  sql: postgres.Sql,
  dataset: DatasetRelations,
  source: SeriesSource,
  query: SeriesQuery,
  clock: Clock = systemClock,
): Promise<Series> {
  const { column, time, buckets } = query;
  const pointsIn: PointsSource['pointsIn'] = (into, part) => {
    const [from, to] = part?.map((one) => one.toISOString()) ?? [query.from, query.to];
    return seriesPoints(dataset, source, { ...query, from: from ?? null, to: to ?? null }, into);
  };
  const { rows, unreadBefore } = await readDownsampled(
    sql,
    { pointsIn, window: null, beginOf: (moment) => moment },
    { buckets, maxLines: 1, budgetMs: READ_BUDGET_MS, clock },
  );
  const of = Number(rows[0]?.of ?? 0);
  return {
    column: column.name,
    time,
    points: rows.map((row) => [readValue('timestamptz', row.at), readValue(column.type, row.value)]),
    of,
    thinned: of > rows.length,
    unread_before: unreadBefore?.toISOString() ?? null,
  };
}

function seriesPoints(
  dataset: DatasetRelations,
  { relation }: SeriesSource,
  { column, time, filters, from, to, asOf }: SeriesQuery,
  into: StatementBuilder,
): PointsSql {
  const { name, kind, key } = dataset;
  const past = asOf === null ? null : into.value(asOf, 'timestamptz');
  const at = rowColumnSql(time);
  const begin = from === null ? null : into.value(from, 'timestamptz');
  const end = to === null ? null : into.value(to, 'timestamptz');
  const conditions = [
    `${at} is not null and isfinite(${at})`,
    ...(begin === null ? [] : [`${at} >= ${begin}`]),
    ...(end === null ? [] : [`${at} < ${end}`]),
    ...ofFilteredSeries(relation, filters, into),
    ...filters.map((one) => filterSql(one, into)),
  ];
  let rows = relationSql(relation.name);
  if (past !== null && relation.asOf !== null) rows = `${relationSql(relation.asOf)}(${past})`;
  else if (past !== null) {
    rows = versionsKnownAt(dataset, relation, past);
    conditions.push(`reporting_internal.has_record(${into.value(name, 'text')}, ${past})`);
  }
  const values = [[column.name, rowColumnSql(column.name)] as const];
  const inPieces = kind === 'series' && time === key.at(-1);
  const parts = pastPoints(relation, past, conditions, into);
  return { rows, conditions, at, ends: null, values, of: [], counted: null, begin, end, inPieces, parts };
}

/**
 * Returns the parts in which points of a past moment are found by time. Returns null for the present, and if
 * the relation has no such parts.
 * @param past SQL of the moment; null: now
 */
export const pastPoints = (
  relation: Relation,
  past: string | null,
  conditions: readonly string[],
  into: StatementBuilder,
): PointsSql['parts'] =>
  past === null || !relation.pastParts
    ? null
    : () =>
        pastPartsOf(relation, past, into).map(({ from, where }) => ({
          rows: from,
          conditions: [...conditions, ...where],
        }));
