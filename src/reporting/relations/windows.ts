import type postgres from 'postgres';
import { z } from 'zod';
import { relationSql } from '../views/declared-objects.ts';
import type { Filter } from './filters.ts';
import { explainQuery } from './query-plan.ts';
import type { Arrival, Relation } from './relation.ts';
import type { RowsQuery } from './row-query.ts';
import { StatementBuilder } from './statement.ts';

const HOUR = 3_600_000;
/**
 * Bounds, in hours, of the ranges in which the first row is searched. Each range ends at the start of the
 * next range.
 */
const SEARCH_HOURS = [0, ...Array.from({ length: 18 }, (_, n) => 2 ** n)];
/**
 * Maximum length of a search window: ten years, in ms. Beyond this length, rows are searched without a
 * window.
 */
const MAX_WINDOW_MS = 87_600 * HOUR;
/** Number of pages that a window should contain. */
const PAGES_PER_WINDOW = 2;
/** Minimum growth from one window to the next. */
const MIN_GROWTH = 2;
/** Maximum growth from one window to the next. The growth depends on the number of rows found. */
const MAX_GROWTH = 8;

/** Operators that set the lower bound of a range, at which an ascending order starts. */
const RISING: ReadonlySet<string> = new Set(['gte', 'gt']);
/** Operators that set the upper bound of a range, at which a descending order starts. */
const FALLING: ReadonlySet<string> = new Set(['lte', 'lt']);

/**
 * Time windows in which the rows of a page are searched. Each window starts at the start of the order, so a
 * window with enough rows contains the page.
 */
interface Windows {
  /** Length of the first window, in ms. Null: all rows are within the first window. */
  readonly first: number | null;
  /**
   * Returns the length of the window after a window with too few rows, in ms. Returns null if the next window
   * would contain all remaining rows. Then the query reads without a window.
   */
  longer(than: number, found: number): number | null;
  /** Returns the filters that bound a window. */
  filters(length: number): Filter[];
}

/**
 * Returns the windows for a page that is ordered by arrival time. If there are millions of rows, sorting all
 * of them would take seconds.
 * @returns null if the page has another order, or is limited to one instant
 */
export async function planSearchWindows(
  sql: postgres.Sql,
  relation: Relation,
  query: RowsQuery,
): Promise<Windows | null> {
  const { order, limit } = query;
  const ends = await endsOf(sql, relation, query);
  if (ends === null) return null;
  const { begin, end, least } = ends;
  const whole = Math.abs(end - begin);
  const longest = Math.min(MAX_WINDOW_MS, whole);
  const shorter = (length: number) => (length > longest ? null : length);
  // Assumes an even distribution of rows over time; later windows follow from the number of rows found.
  const enough = async () =>
    Math.max(HOUR, whole * ((PAGES_PER_WINDOW * limit) / (await expectedRows(sql, relation))));
  const bound = (operator: 'gte' | 'lte', at: number): Filter => ({
    column: order.columns[0]?.name ?? '',
    type: 'timestamptz',
    operator,
    value: new Date(at).toISOString(),
  });
  return {
    first: longest < HOUR ? null : shorter(await enough()),
    longer: (than, found) =>
      shorter(than * Math.min(MAX_GROWTH, Math.max(MIN_GROWTH, (PAGES_PER_WINDOW * limit) / found))),
    filters: (length) => [
      bound(order.descending ? 'gte' : 'lte', begin + (order.descending ? -length : length)),
      ...(least === null ? [] : [bound('gte', least)]),
    ],
  };
}

/**
 * Returns PostgreSQL's estimate of the total number of rows. Returns Infinity if rows are computed for each
 * entity, because there is no estimate for such rows.
 */
async function expectedRows(sql: postgres.Sql, { arrival, entities }: Relation): Promise<number> {
  if (!arrival || entities) return Number.POSITIVE_INFINITY;
  const plan = await explainQuery(sql, `select from ${relationSql(arrival.view)}`, []);
  return plan?.['Plan Rows'] ?? Number.POSITIVE_INFINITY;
}

const boundsSchema = z.array(z.object({ begin: z.number(), end: z.number() }));
const earlyBoundsSchema = z.tuple([z.object({ begin: z.number().nullable(), end: z.number() })]);

/** The bounds of the rows, in ms since 1970. */
interface Ends {
  /** Bound of the times. In the order of the page, no row comes before this time. */
  readonly begin: number;
  readonly end: number;
  /** Lower bound of the times of all rows. Null: not determined. */
  readonly least: number | null;
}

/**
 * Returns the bounds of the requested rows. Returns null if there are no rows, or if the query has another
 * order or an equality filter on the time.
 */
async function endsOf(
  sql: postgres.Sql,
  { arrival, entities }: Relation,
  { order: { columns, descending }, filters, after, asOf }: RowsQuery,
): Promise<Ends | null> {
  if (!arrival || columns[0]?.name !== arrival.column) return null;
  const bounds = filters.filter(({ column }) => column === arrival.column);
  if (bounds.some(({ operator }) => operator === 'eq')) return null;
  const into = new StatementBuilder();
  const [oldest, newest] = [since(arrival, into), 'now()'];
  const known = [
    ...bounds.flatMap(({ operator, value }) =>
      (descending ? FALLING : RISING).has(operator) ? [value] : [],
    ),
    ...(after?.values[0] ? [after.values[0]] : []),
    ...(descending && asOf !== null ? [asOf] : []),
  ].map((value) => into.value(value, 'timestamptz'));
  const needsLeast = entities?.packed === true && !descending && known.length === 0;
  const before = needsLeast ? await beforeRecord(sql, arrival) : null;
  if (before) return before;
  const [begin, end] = descending
    ? [`least(${[newest, ...known].join(', ')})`, oldest]
    : [`greatest(${[oldest, ...known].join(', ')})`, newest];
  const queriesEnd = !arrival.shared || after !== null; // a later page may be the last page
  const last = queriesEnd ? firstFrom(arrival, end, !descending) : `select ${end} as at`;
  const text = `select 1000 * extract(epoch from b.at)::float8 as begin, 1000 * extract(epoch from e.at)::float8 as "end"
from (${firstFrom(arrival, begin, descending)}) b, (${last}) e where e.at is not null`;
  const [ends] = boundsSchema.parse(await sql.unsafe(text, [...into.values]));
  return ends ? { ...ends, least: needsLeast ? Math.floor(ends.begin) : null } : null;
}

/**
 * Returns the bounds if rows exist before the start of the record; otherwise null. A record starts with the
 * first successful run, but an earlier failed run may have inserted rows.
 */
async function beforeRecord(sql: postgres.Sql, arrival: Arrival): Promise<Ends | null> {
  const { begins, view } = arrival;
  const into = new StatementBuilder();
  const text = `select floor(1000 * extract(epoch from min(${begins})))::float8 as begin, 1000 * extract(epoch from now())::float8 as "end"
from ${relationSql(view)} where ${begins} >= '-infinity' and ${begins} < ${since(arrival, into)}`; // bounded on both sides, so that PostgreSQL estimates few rows
  const [{ begin, end }] = earlyBoundsSchema.parse(await sql.unsafe(text, [...into.values]));
  return begin === null ? null : { begin, end, least: begin };
}

/**
 * Returns SQL of the time of the first row after or before a moment. The SQL returns no row if there is no
 * such row. The time since the last row may be long, so the search uses exponentially growing ranges.
 * @param back true to search before the moment
 */
function firstFrom({ begins, view }: Arrival, moment: string, back: boolean): string {
  const [first, from, to, sign] = back ? ['max', '<=', '>=', '-'] : ['min', '>=', '<=', '+'];
  return `select f.at
from (select ${moment} as at) m, unnest(array[${SEARCH_HOURS.slice(0, -1).join(', ')}], array[${SEARCH_HOURS.slice(1).join(', ')}]) as h(near, far),
  lateral (
    select ${first}(${begins}) as at from ${relationSql(view)}
    where ${begins} ${from} m.at ${sign} h.near * interval '1 hour' and ${begins} ${to} m.at ${sign} h.far * interval '1 hour') f
where f.at is not null
limit 1`;
}

/** Returns SQL of the start of the record. */
const since = ({ dataset }: Arrival, into: StatementBuilder) =>
  `(select min(recorded_since) from reporting_internal.recorded_since where dataset = ${into.value(dataset, 'text')})`;
