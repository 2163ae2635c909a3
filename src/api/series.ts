import type postgres from 'postgres';
import { z } from 'zod';
import type { DeclaredColumn } from '../db/declared.ts';
import type { ReadableDataset } from './catalogue.ts';
import { condition, type Filter, instant, written } from './filters.ts';
import { asOf, filterShape, filtersIn, filtersOf, type Told, textOf as told } from './list-parameters.ts';
import type { Readable } from './readable.ts';
import { columnOf } from './rows.ts';
import { type Asked, Statement } from './statement.ts';
import { readValue, type Value } from './values.ts';

/** A series of points of one column over time, thinned out so that extremes survive. */
export interface Series {
  readonly column: string;
  readonly time: string;
  /** Time and value, by time. Values are exact, as in rows. */
  readonly points: readonly (readonly [at: Value, value: Value])[];
  /** How many points there are in the window. */
  readonly of: number;
  /** Whether points were left out: of each bucket the first, the last, the least and the greatest are kept. */
  readonly thinned: boolean;
}

/** Which series, as PostgreSQL reads it. */
export interface SeriesQuestion {
  readonly column: DeclaredColumn;
  readonly time: string;
  readonly filters: readonly Filter[];
  readonly from: string | null;
  readonly to: string | null;
  readonly asOf: string | null;
  readonly buckets: number;
}

const NUMBERS: ReadonlySet<string> = new Set(['numeric', 'bigint', 'integer', 'double precision']);
/** How many parts a window has unless told, and at most. */
const BUCKETS = 500;
const MOST_BUCKETS = 5_000;

/** Where the points of a dataset are, and what has to be told so that they are of one thing. */
export interface SeriesSource {
  readonly readable: Readable;
  /** The columns that can be drawn, and those that say when. */
  readonly values: readonly DeclaredColumn[];
  readonly times: readonly DeclaredColumn[];
  /** The time that is taken unless told. */
  readonly time: string;
  /** The columns that tell one series from another: all of them need a filter. */
  readonly needed: readonly string[];
}

/** Where the points of a dataset are; null: it has no numbers over time. */
export function seriesOf({ kind, key, request, now, history, begins }: ReadableDataset): SeriesSource | null {
  const versioned = kind === 'state' || kind === 'ledger';
  const readable = versioned && history ? history : now;
  const times = readable.columns.filter(({ type }) => type === 'timestamptz');
  const told = (name: string) => times.some((one) => one.name === name);
  const ofThing = key.find(told) ?? times.find(({ name }) => name !== begins)?.name;
  const time = kind === 'series' || kind === 'log' ? (ofThing ?? begins) : begins;
  const values = readable.columns.filter(
    ({ name, type }) => NUMBERS.has(type) && name !== 'run_id' && !key.includes(name),
  );
  const heights =
    kind === 'log' ? readable.columns.filter(({ name }) => name === 'height' && key.includes(name)) : [];
  if (values.length + heights.length === 0) return null;
  const parts = kind === 'log' ? request : key;
  return {
    readable,
    values: [...values, ...heights],
    times,
    time,
    needed: parts.filter((name) => name !== time && now.columns.some((column) => column.name === name)),
  };
}

/** The parameters of {@link readSeries}. */
export function seriesParameters(source: SeriesSource): z.ZodType<SeriesQuestion> {
  const { readable, values, times, time, needed } = source;
  const filters = filtersOf(readable.columns, ['column', 'time', 'from', 'to', 'buckets']);
  const names = values.map(({ name }) => name);
  const one = (all: readonly string[], description: string) =>
    z
      .enum(all, {
        error: ({ input }) =>
          Array.isArray(input) ? 'is given more than once' : `must be one of ${all.join(', ')}`,
      })
      .meta({ description });
  const window = (description: string) => instant.meta({ ...instant.meta(), description }).optional();
  const shape = {
    column: names.length === 1 ? one(names, 'The values.').optional() : one(names, 'The values.'),
    time: one(
      times.map(({ name }) => name),
      `When they were so; ${time} unless told.`,
    ).optional(),
    from: window('The begin of the window; the first point unless told.'),
    to: window('The end of the window, itself not in it; after the last point unless told.'),
    buckets: written
      .refine((text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_BUCKETS, {
        error: `must be a whole number from 1 to ${MOST_BUCKETS}`,
      })
      .meta({
        description: `Into how many parts the window is cut: of each part at most four points are told. ${BUCKETS} unless told.`,
        type: 'integer',
        minimum: 1,
        maximum: MOST_BUCKETS,
        default: BUCKETS,
      })
      .optional(),
    as_of: asOf,
    ...filterShape(filters),
  };
  return z
    .strictObject(shape, {
      error: ({ code }) =>
        code === 'unrecognized_keys' ? `there are ${Object.keys(shape).join(', ')}` : undefined,
    })
    .transform((given: Told, context): SeriesQuestion => {
      const asked = filtersIn(filters, given);
      for (const name of needed)
        if (
          !asked.some(({ column, operator }) => column === name && (operator === 'eq' || operator === 'null'))
        )
          context.addIssue({
            code: 'custom',
            path: [name],
            message: 'is needed: without it points of different things would be one line',
          });
      const column = values.find(({ name }) => name === (told(given, 'column') ?? names[0]));
      return {
        column: column ?? { name: '', type: '', comment: '' },
        time: told(given, 'time') ?? time,
        filters: asked,
        from: told(given, 'from') ?? null,
        to: told(given, 'to') ?? null,
        asOf: told(given, 'as_of') ?? null,
        buckets: Number(told(given, 'buckets') ?? BUCKETS),
      };
    });
}

/**
 * Reads a series. Where there are more points than fit, the window is cut into equal parts, and of each the first, the last, the
 * least and the greatest point are told (M4), so that a line drawn of them looks like the line of all.
 * @throws PostgresError 22023 when there is no record at the moment of `as_of`
 */
export async function readSeries(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  source: SeriesSource,
  question: SeriesQuestion,
): Promise<Series> {
  const { text, values } = seriesStatement(dataset, source, question);
  const { column, time } = question;
  const rows = await sql.unsafe<{ at: string; value: string; of: string }[]>(text, [...values]);
  const of = Number(rows[0]?.of ?? 0);
  return {
    column: column.name,
    time,
    points: rows.map((row) => [readValue('timestamptz', row.at), readValue(column.type, row.value)]),
    of,
    thinned: of > rows.length,
  };
}

function seriesStatement(
  { name, kind, begins }: ReadableDataset,
  { readable }: SeriesSource,
  { column, time, filters, from, to, asOf, buckets }: SeriesQuestion,
): Asked {
  const into = new Statement();
  const types = new Map(readable.columns.map((one) => [one.name, one.type]));
  const past = asOf === null ? null : into.value(asOf, 'timestamptz');
  const at = columnOf(time);
  const begin = from === null ? null : into.value(from, 'timestamptz');
  const end = to === null ? null : into.value(to, 'timestamptz');
  const conditions = [
    `${columnOf(column.name)} is not null`,
    `${at} is not null and isfinite(${at})`,
    ...(begin === null ? [] : [`${at} >= ${begin}`]),
    ...(end === null ? [] : [`${at} < ${end}`]),
    // A point that the upstream stopped showing is no part of the series any more.
    ...(kind === 'series' ? [`${columnOf('vanished_at')} is null`] : []),
    ...filters.map((one) => condition(one, types.get(one.column) ?? 'text', columnOf(one.column), into)),
  ];
  let rows = `reporting.${readable.name}`;
  if (past !== null && readable.asOf !== null) rows = `reporting.${readable.asOf}(${past})`;
  else if (past !== null)
    conditions.push(
      `${columnOf(begins)} <= ${past}`,
      `reporting.has_record(${into.value(name, 'text')}, ${past})`,
    );
  const text = `with points as materialized (
  select ${at} as at, ${columnOf(column.name)} as value from ${rows} as r
  where ${conditions.join('\n    and ')}
),
spans as (
  select extract(epoch from ${begin ?? 'min(at)'})::float8 as begins, extract(epoch from ${end ?? 'max(at)'})::float8 as ends,
    count(*) as of from points
),
parts as (
  select p.at, p.value, case when s.ends > s.begins
    then least(width_bucket(extract(epoch from p.at)::float8, s.begins, s.ends, ${buckets}), ${buckets}) else 1 end as part
  from points p, spans s
),
extremes as (
  select part, at, value, min(at) over whole as first, max(at) over whole as last, min(value) over whole as least,
    max(value) over whole as greatest
  from parts
  window whole as (partition by part)
),
chosen as (
  select part, first, last, least, greatest,
    min(value) filter (where at = first) as first_value, min(value) filter (where at = last) as last_value,
    min(at) filter (where value = least) as least_at, min(at) filter (where value = greatest) as greatest_at
  from extremes
  group by part, first, last, least, greatest
)
select distinct on (c.at, c.value) c.at::text as at, c.value::text as value, s.of::text as of
from chosen x
cross join lateral (values (x.first, x.first_value), (x.last, x.last_value), (x.least_at, x.least), (x.greatest_at, x.greatest))
  as c(at, value)
cross join spans s
order by c.at, c.value`;
  return { text, values: into.values };
}
