import type postgres from 'postgres';
import { relationSql } from '../views/declared-objects.ts';
import { type ChartGrain, type ChartSource, startOfGrain } from './chart-sources.ts';
import { type DownsampleOptions, hasManyPoints, type PointsSource, readDownsampled } from './downsample.ts';
import { isOneLine, type PointsSql } from './downsample-sql.ts';
import { rowColumnSql } from './order.ts';
import { sourceSql } from './rows.ts';
import { pastPoints } from './series.ts';
import { ofOneSeries } from './series-numbers.ts';
import type { StatementBuilder } from './statement.ts';
import { toIsoTime } from './values.ts';

/** A query for lines of a {@link ChartSource}, as known at one moment. */
export interface LinesQuery {
  /** The columns of values, at least one. */
  readonly columns: readonly string[];
  /** The requested values of key columns. A column that is absent is not filtered. */
  readonly keyValues: Readonly<Record<string, readonly string[]>>;
  /** The other arguments of a function. */
  readonly args: Readonly<Record<string, string>>;
  readonly grain: ChartGrain | null;
  readonly window: readonly [from: Date, to: Date];
  /** Moment of the record, in PostgreSQL's format; null: now. */
  readonly asOf: string | null;
}

/** A line of numbers over time, with every digit. */
export interface ChartLine {
  /** The key of the line, by column; `value` is the column of the values. */
  readonly of: Readonly<Record<string, string | null>>;
  /**
   * Points by time (ISO 8601). A value is null if the previous value ended and no other value follows
   * immediately.
   */
  readonly points: readonly (readonly [at: string, value: string | null])[];
  /** The number of points in the window. */
  readonly count: number;
}

/** Lines in descending order of their maximum, and the total number of lines. */
export interface ChartLines {
  readonly lines: readonly ChartLine[];
  readonly of: number;
  /**
   * Points before this moment were not read, because the time limit was reached, and are not part of the
   * lines. Null: all points were read.
   */
  readonly unreadBefore: Date | null;
}

/**
 * Reads the lines of a chart and downsamples them. Reads with one statement, or in pieces if there are too
 * many points. Datasets whose points are found by time are read line by line.
 * @throws PostgresError 22023 if there is no record at the moment, or the function rejects its arguments
 */
export async function readLines(
  sql: postgres.Sql,
  drawable: ChartSource,
  query: LinesQuery,
  options: DownsampleOptions,
): Promise<ChartLines> {
  const single = singleLines(drawable, query);
  if (single.length > 1 && single.length <= options.maxLines) {
    const lines = single.map((one) => sourceOf(drawable, one));
    if (await hasManyPoints(sql, lines, options.maxPoints))
      return readEach(sql, drawable, query, single, options);
  }
  // Reading in pieces does not help if the cost of a function does not depend on its window.
  const trial = drawable.dataset ? {} : { trialTimeoutMs: 2 * options.budgetMs };
  const { rows, unreadBefore } = await readDownsampled(sql, sourceOf(drawable, query), {
    ...trial,
    ...options,
  });
  const names = listLineKeys(drawable, query);
  const [column = ''] = query.columns;
  const lines = new Map<string, { of: ChartLine['of']; points: [string, string | null][]; count: number }>();
  for (const { line, at, value, of } of rows) {
    const key = JSON.stringify(line);
    const known = lines.get(key) ?? {
      of: {
        ...Object.fromEntries(names.map((name, place) => [name, line[place] ?? null])),
        value: line[names.length] ?? column,
      },
      points: [],
      count: Number(of),
    };
    lines.set(key, known);
    known.points.push([toIsoTime(at), value]);
  }
  return { lines: [...lines.values()], of: Number(rows[0]?.lines ?? 0), unreadBefore };
}

/** Returns a source whose parts are queries for a part of the window. */
const sourceOf = (drawable: ChartSource, query: LinesQuery): PointsSource => ({
  pointsIn: (into, part) => pointsOf(drawable, part ? { ...query, window: part } : query, into),
  window: query.window,
  beginOf: (moment) => (query.grain === null ? moment : startOfGrain(moment, query.grain)),
});

/**
 * Returns one query per line if an index finds the points of the dataset by time. Returns an empty list if
 * there is no such index, or if a key column has no value.
 */
function singleLines(drawable: ChartSource, query: LinesQuery): LinesQuery[] {
  if (!isFoundByTime(drawable)) return [];
  const keyed = drawable.keys.reduce<LinesQuery['keyValues'][]>(
    (all, { name }) =>
      all.flatMap((keys) => (query.keyValues[name] ?? []).map((value) => ({ ...keys, [name]: [value] }))),
    [{}],
  );
  return keyed.flatMap((keyValues) =>
    query.columns.map((column) => ({ ...query, keyValues, columns: [column] })),
  );
}

/**
 * Reads lines one after another. If the points of a line before some moment were not read, all lines start at
 * the latest of these moments, so that all lines cover the same time.
 */
async function readEach(
  sql: postgres.Sql,
  drawable: ChartSource,
  query: LinesQuery,
  single: readonly LinesQuery[],
  options: DownsampleOptions,
): Promise<ChartLines> {
  const names = listLineKeys(drawable, query);
  const lines: ChartLine[] = [];
  let unread: Date | null = null;
  for (const one of single) {
    const found: ChartLines = await readLines(sql, drawable, one, {
      ...options,
      budgetMs: options.budgetMs / single.length,
    });
    const of = Object.fromEntries(names.map((name) => [name, one.keyValues[name]?.[0] ?? null]));
    lines.push(...found.lines.map((line) => ({ ...line, of: { ...of, value: one.columns[0] ?? '' } })));
    unread = laterMoment(unread, found.unreadBefore);
  }
  return { lines: cutLines(lines, unread), of: lines.length, unreadBefore: unread };
}

/** Returns the later of two moments before which points were not read; null if all points were read. */
export const laterMoment = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other > one) ? other : one;

/** Removes the points of lines before a moment. If the moment is null, the lines are unchanged. */
export const cutLines = <Line extends ChartLine>(lines: readonly Line[], moment: Date | null): Line[] =>
  lines.flatMap((line) => {
    if (moment === null) return [line];
    const points = line.points.filter(([at]) => Date.parse(at) >= moment.getTime());
    return points.length === 0 ? [] : [{ ...line, points }];
  });

/** Returns true if the points of a line are found by time through an index. */
const isFoundByTime = ({ dataset, time }: ChartSource) =>
  dataset?.kind === 'series' && time.name === dataset.key.at(-1);

/**
 * Returns the key columns that distinguish the lines: the key columns without exactly one requested value.
 */
const listLineKeys = ({ keys }: ChartSource, { keyValues }: LinesQuery) =>
  keys.flatMap(({ name }) => (keyValues[name]?.length === 1 ? [] : [name]));

/** Returns SQL of all requested points. @param into collects the values */
export function pointsOf(drawable: ChartSource, query: LinesQuery, into: StatementBuilder): PointsSql {
  const { dataset, time, ends, counted, keys } = drawable;
  const { columns, keyValues, grain, window, asOf } = query;
  const [begin, end] = window.map((one) => into.value(one.toISOString(), 'timestamptz'));
  const past = asOf && into.value(asOf, 'timestamptz');
  const column = rowColumnSql(time.name);
  const at = time.type === 'date' ? `${column}::timestamp at time zone 'UTC'` : column;
  const { rows, parameters } = dataset ? rowsOf(drawable, past) : callOf(drawable, query, into);
  const keyConditions = keys.flatMap(({ name, type }) => {
    const values = keyValues[name];
    if (values === undefined || parameters.includes(name)) return [];
    const [value = '', ...others] = values;
    return others.length === 0
      ? [`${rowColumnSql(name)} = ${into.value(value, type)}`]
      : [`${rowColumnSql(name)} in (${values.map((one) => into.value(one, type)).join(', ')})`];
  });
  const known =
    dataset && past && rows === relationSql(drawable.relation.name)
      ? [
          `${rowColumnSql(dataset.begins)} <= ${past}`,
          `reporting_internal.has_record(${into.value(dataset.name, 'text')}, ${past})`,
        ]
      : [];
  const inWindow =
    ends === null
      ? dataset
        ? [`${at} >= ${begin}`, `${at} < ${end}`]
        : []
      : [`${at} < ${end}`, `(${rowColumnSql(ends)} is null or ${rowColumnSql(ends)} > ${begin})`];
  const until = ends && rowColumnSql(ends);
  const lined = {
    values: columns.map((name) => [name, rowColumnSql(name)] as const),
    of: listLineKeys(drawable, query).map(rowColumnSql),
  };
  const ofSeries = dataset
    ? ofOneSeries(
        drawable.relation,
        (name) => (keyValues[name]?.length === 1 ? keyValues[name][0] : undefined),
        into,
      )
    : [];
  const conditions = [...ofSeries, ...keyConditions, ...inWindow, ...known];
  return {
    rows,
    conditions,
    parts: pastPoints(drawable.relation, past, conditions, into),
    at: ends === null ? at : `greatest(${at}, ${begin})`,
    ends: until && (past ? `case when ${until} <= ${past} then ${until} end` : until),
    ...lined,
    counted: counted ? (grain ?? 'day') : null,
    begin: begin ?? null,
    end: end ?? null,
    inPieces: isFoundByTime(drawable) && isOneLine(lined),
  };
}

/** Returns the rows of a dataset. No column is passed as a parameter. */
const rowsOf = ({ relation }: ChartSource, past: string | null) => ({
  rows:
    past !== null && relation.asOf !== null
      ? `${relationSql(relation.asOf)}(${past})`
      : relationSql(relation.name),
  parameters: [],
});

/** Returns the call of a function, and the columns whose single value is passed as a parameter. */
function callOf({ relation }: ChartSource, query: LinesQuery, into: StatementBuilder) {
  const { keyValues, args, grain, window, asOf } = query;
  const [from, to] = window.map((one) => one.toISOString());
  const known = new Set(relation.parameters?.map(({ name }) => name));
  const single = Object.entries(keyValues).flatMap(([name, values]) =>
    values.length === 1 && known.has(name) ? [[name, values[0] ?? ''] as const] : [],
  );
  const values = {
    ...args,
    ...Object.fromEntries(single),
    ...{ from: from ?? '', to: to ?? '' },
    ...(asOf ? { as_of: asOf } : {}),
    ...(grain !== null && known.has('by') ? { by: grain } : {}),
  };
  return {
    rows: sourceSql(relation, { args: values, asOf: null }, into),
    parameters: single.map(([name]) => name),
  };
}
