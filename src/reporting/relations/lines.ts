import type postgres from 'postgres';
import { beginOf, type Drawable, type Grain } from './chart-sources.ts';
import { areMany, type PointsSource, readThinned, type Thinning } from './downsample.ts';
import { columnOf } from './order.ts';
import { isOneLine, type PointsSql } from './points-sql.ts';
import { source } from './rows.ts';
import { currentOnly, pastPoints } from './series.ts';
import { ofOneSeries } from './series-numbers.ts';
import type { Statement } from './statement.ts';
import { isoOf } from './values.ts';

/** A query for lines of a {@link ChartSource}, as known at one moment. */
export interface LinesQuestion {
  /** The columns of values, at least one. */
  readonly columns: readonly string[];
  /** The requested values of key columns. A column that is absent is not filtered. */
  readonly told: Readonly<Record<string, readonly string[]>>;
  /** The other arguments of a function. */
  readonly given: Readonly<Record<string, string>>;
  readonly grain: Grain | null;
  readonly window: readonly [from: Date, to: Date];
  /** In PostgreSQL's format; null: now. */
  readonly asOf: string | null;
}

/** A line of numbers over time, with every digit. */
export interface FoundLine {
  /** The key of the line, by column; `value` is the column of the values. */
  readonly of: Readonly<Record<string, string | null>>;
  /** Points by time (ISO 8601). Null value: the last value ended, and no other followed. */
  readonly points: readonly (readonly [at: string, value: string | null])[];
  /** The number of points in the window. */
  readonly count: number;
}

/** Lines in descending order of their maximum, and the total number of lines. */
export interface FoundLines {
  readonly lines: readonly FoundLine[];
  readonly of: number;
  /**
   * Points before this moment were not read within the budget, and no line has any. Null: all points were
   * read.
   */
  readonly unreadBefore: Date | null;
}

/**
 * Reads the lines of a chart and downsamples them. Reads with one statement, or piece by piece if there are
 * too many points. Datasets whose points are found by time are read line by line.
 * @throws PostgresError 22023 if there is no record at the moment, or the function rejects its arguments
 */
export async function readLines(
  sql: postgres.Sql,
  drawable: Drawable,
  question: LinesQuestion,
  thinning: Thinning,
): Promise<FoundLines> {
  const single = singleLines(drawable, question);
  if (single.length > 1 && single.length <= thinning.most) {
    const lines = single.map((one) => sourceOf(drawable, one));
    if (await areMany(sql, lines, thinning.atOnce))
      return readEach(sql, drawable, question, single, thinning);
  }
  // The cost of a function may depend on more than its window; then reading in pieces does not help.
  const trial = drawable.dataset ? {} : { trial: 2 * thinning.budget };
  const { rows, unreadBefore } = await readThinned(sql, sourceOf(drawable, question), {
    ...trial,
    ...thinning,
  });
  const names = untold(drawable, question);
  const [column = ''] = question.columns;
  const lines = new Map<string, { of: FoundLine['of']; points: [string, string | null][]; count: number }>();
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
    known.points.push([isoOf(at), value]);
  }
  return { lines: [...lines.values()], of: Number(rows[0]?.lines ?? 0), unreadBefore };
}

/** Returns a source whose parts are queries for a part of the window. */
const sourceOf = (drawable: Drawable, question: LinesQuestion): PointsSource => ({
  pointsIn: (into, part) => pointsOf(drawable, part ? { ...question, window: part } : question, into),
  window: question.window,
  beginOf: (moment) => (question.grain === null ? moment : beginOf(moment, question.grain)),
});

/**
 * Returns one query per line, for a dataset whose points are found by time. Empty if a key column has no
 * value.
 */
function singleLines(drawable: Drawable, question: LinesQuestion): LinesQuestion[] {
  if (!isFoundByTime(drawable)) return [];
  const keyed = drawable.keys.reduce<LinesQuestion['told'][]>(
    (all, { name }) =>
      all.flatMap((told) => (question.told[name] ?? []).map((value) => ({ ...told, [name]: [value] }))),
    [{}],
  );
  return keyed.flatMap((told) =>
    question.columns.map((column) => ({ ...question, told, columns: [column] })),
  );
}

/**
 * Reads lines one after another. All lines start at the latest moment before which points of any line were
 * not read, so that they cover the same time.
 */
async function readEach(
  sql: postgres.Sql,
  drawable: Drawable,
  question: LinesQuestion,
  single: readonly LinesQuestion[],
  thinning: Thinning,
): Promise<FoundLines> {
  const names = untold(drawable, question);
  const lines: FoundLine[] = [];
  let unread: Date | null = null;
  for (const one of single) {
    const found: FoundLines = await readLines(sql, drawable, one, {
      ...thinning,
      budget: thinning.budget / single.length,
    });
    const of = Object.fromEntries(names.map((name) => [name, one.told[name]?.[0] ?? null]));
    lines.push(...found.lines.map((line) => ({ ...line, of: { ...of, value: one.columns[0] ?? '' } })));
    unread = latest(unread, found.unreadBefore);
  }
  return { lines: since(lines, unread), of: lines.length, unreadBefore: unread };
}

/** Returns the later of two moments before which points were not read; null: all points were read. */
export const latest = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other > one) ? other : one;

/** Cuts lines at a moment; null: the whole lines. */
export const since = <Line extends FoundLine>(lines: readonly Line[], moment: Date | null): Line[] =>
  lines.flatMap((line) => {
    if (moment === null) return [line];
    const points = line.points.filter(([at]) => Date.parse(at) >= moment.getTime());
    return points.length === 0 ? [] : [{ ...line, points }];
  });

/** Whether the points of a line are found by time through an index. */
const isFoundByTime = ({ dataset, time }: Drawable) =>
  dataset?.kind === 'series' && time.name === dataset.key.at(-1);

/** Returns the key columns that distinguish the lines: those without exactly one requested value. */
const untold = ({ keys }: Drawable, { told }: LinesQuestion) =>
  keys.flatMap(({ name }) => (told[name]?.length === 1 ? [] : [name]));

/** Returns SQL of all requested points. @param into collects the values */
export function pointsOf(drawable: Drawable, question: LinesQuestion, into: Statement): PointsSql {
  const { dataset, time, ends, counted, keys } = drawable;
  const { columns, told, grain, window, asOf } = question;
  const [begin, end] = window.map((one) => into.value(one.toISOString(), 'timestamptz'));
  const past = asOf && into.value(asOf, 'timestamptz');
  const column = columnOf(time.name);
  const at = time.type === 'date' ? `${column}::timestamp at time zone 'UTC'` : column;
  const { rows, parameters } = dataset ? rowsOf(drawable, past) : callOf(drawable, question, into);
  const wanted = keys.flatMap(({ name, type }) => {
    const values = told[name];
    if (values === undefined || parameters.includes(name)) return [];
    const [value = '', ...others] = values;
    return others.length === 0
      ? [`${columnOf(name)} = ${into.value(value, type)}`]
      : [`${columnOf(name)} in (${values.map((one) => into.value(one, type)).join(', ')})`];
  });
  const known =
    dataset && past && rows === `reporting.${drawable.readable.name}`
      ? [
          `${columnOf(dataset.begins)} <= ${past}`,
          `reporting.has_record(${into.value(dataset.name, 'text')}, ${past})`,
        ]
      : [];
  const inWindow =
    ends === null
      ? dataset
        ? [`${at} >= ${begin}`, `${at} < ${end}`]
        : []
      : [`${at} < ${end}`, `(${columnOf(ends)} is null or ${columnOf(ends)} > ${begin})`];
  const until = ends && columnOf(ends);
  const lined = {
    values: columns.map((name) => [name, columnOf(name)] as const),
    of: untold(drawable, question).map(columnOf),
  };
  const ofSeries = dataset
    ? ofOneSeries(drawable.readable, (name) => (told[name]?.length === 1 ? told[name][0] : undefined), into)
    : [];
  const conditions = [
    ...ofSeries,
    ...wanted,
    ...inWindow,
    ...(dataset ? currentOnly(dataset.kind) : []),
    ...known,
  ];
  return {
    rows,
    conditions,
    parts: pastPoints(drawable.readable, past, conditions, into),
    at: ends === null ? at : `greatest(${at}, ${begin})`,
    ends: until && (past ? `case when ${until} <= ${past} then ${until} end` : until),
    ...lined,
    counted: counted ? (grain ?? 'day') : null,
    begin: begin ?? null,
    end: end ?? null,
    foundByTime: isFoundByTime(drawable) && past === null,
    inPieces: isFoundByTime(drawable) && isOneLine(lined),
  };
}

/** Returns the rows of a dataset. No column is passed as a parameter. */
const rowsOf = ({ readable }: Drawable, past: string | null) => ({
  rows:
    past !== null && readable.asOf !== null
      ? `reporting.${readable.asOf}(${past})`
      : `reporting.${readable.name}`,
  parameters: [],
});

/** Returns the call of a function, and the columns whose single value is passed as a parameter. */
function callOf({ readable }: Drawable, question: LinesQuestion, into: Statement) {
  const { told, given, grain, window, asOf } = question;
  const [from, to] = window.map((one) => one.toISOString());
  const known = new Set(readable.parameters?.map(({ name }) => name));
  const single = Object.entries(told).flatMap(([name, values]) =>
    values.length === 1 && known.has(name) ? [[name, values[0] ?? ''] as const] : [],
  );
  const values = {
    ...given,
    ...Object.fromEntries(single),
    ...{ from: from ?? '', to: to ?? '' },
    ...(asOf ? { as_of: asOf } : {}),
    ...(grain !== null && known.has('by') ? { by: grain } : {}),
  };
  return {
    rows: source(readable, { given: values, asOf: null }, into),
    parameters: single.map(([name]) => name),
  };
}
