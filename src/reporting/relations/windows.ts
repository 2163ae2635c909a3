import type postgres from 'postgres';
import { z } from 'zod';
import type { Filter } from './filters.ts';
import { planOf } from './query-plan.ts';
import type { Arrival, Readable } from './readable.ts';
import type { RowsQuestion } from './row-query.ts';
import { Statement } from './statement.ts';

const HOUR = 3_600_000;
/** The first row is looked for from each of these hours to the next one. */
const HOURS = [0, ...Array.from({ length: 18 }, (_, n) => 2 ** n)];
/** Ten years, ms: beyond it rows are looked for at any time. */
const LONGEST = 87_600 * HOUR;
/** A window is made for so many pages. */
const ENOUGH = 2;
/** A window is so many times as long as the one before, by how many rows that one had. */
const LEAST_GROWTH = 2;
const MOST_GROWTH = 8;

/** Filters of a column that bound where an order by it begins, when it rises and when it falls. */
const RISING: ReadonlySet<string> = new Set(['gte', 'gt']);
const FALLING: ReadonlySet<string> = new Set(['lte', 'lt']);

/** Windows of time in which the rows of a page are looked for. Each begins where the order begins: a page that one fills is the page. */
interface Windows {
  /** The first window, ms; null: the order ends within it. */
  readonly first: number | null;
  /**
   * The window after one in which not enough rows were found, ms; null: it is time to look everywhere, because the next one would
   * hold all that is left.
   */
  longer(than: number, found: number): number | null;
  /** The filters that bound a window. */
  filters(length: number): Filter[];
}

/**
 * The windows for a page that is ordered by when rows came: a sort of all rows would take seconds where there are millions.
 * @returns null: the page is ordered otherwise, or asked for one instant
 */
export async function windowsOf(
  sql: postgres.Sql,
  readable: Readable,
  question: RowsQuestion,
): Promise<Windows | null> {
  const { order, limit } = question;
  const ends = await endsOf(sql, readable, question);
  if (ends === null) return null;
  const { begin, end, least } = ends;
  const whole = Math.abs(end - begin);
  const longest = Math.min(LONGEST, whole);
  const shorter = (length: number) => (length > longest ? null : length);
  // As if rows had come evenly; the windows after it follow what is found.
  const enough = async () => Math.max(HOUR, whole * ((ENOUGH * limit) / (await expectedRows(sql, readable))));
  const bound = (operator: 'gte' | 'lte', at: number): Filter => ({
    column: order.columns[0]?.name ?? '',
    operator,
    value: new Date(at).toISOString(),
  });
  return {
    first: longest < HOUR ? null : shorter(await enough()),
    longer: (than, found) =>
      shorter(than * Math.min(MOST_GROWTH, Math.max(LEAST_GROWTH, (ENOUGH * limit) / found))),
    filters: (length) => [
      bound(order.descending ? 'gte' : 'lte', begin + (order.descending ? -length : length)),
      ...(least === null ? [] : [bound('gte', least)]),
    ],
  };
}

/** How many rows came at all, as PostgreSQL expects them; of what is worked out for each of them nobody knows. */
async function expectedRows(sql: postgres.Sql, { arrival, things }: Readable): Promise<number> {
  if (!arrival || things) return Number.POSITIVE_INFINITY;
  const plan = await planOf(sql, `select from reporting.${arrival.view}`, []);
  return plan?.['Plan Rows'] ?? Number.POSITIVE_INFINITY;
}

const told = z.array(z.object({ begin: z.number(), end: z.number() }));
const toldBefore = z.tuple([z.object({ begin: z.number().nullable(), end: z.number() })]);

/** Where rows are, ms since 1970. */
interface Ends {
  /** Where the order begins, if not before. */
  readonly begin: number;
  readonly end: number;
  /** No row is older; null: that was not asked. */
  readonly least: number | null;
}

/** Where the rows are that are asked for; null: they are not ordered by time, or none is known. */
async function endsOf(
  sql: postgres.Sql,
  { arrival, things }: Readable,
  { order: { columns, descending }, filters, after, asOf }: RowsQuestion,
): Promise<Ends | null> {
  if (!arrival || columns[0]?.name !== arrival.column) return null;
  const bounds = filters.filter(({ column }) => column === arrival.column);
  if (bounds.some(({ operator }) => operator === 'eq')) return null;
  const into = new Statement();
  const [oldest, newest] = [since(arrival, into), 'now()'];
  const known = [
    ...bounds.flatMap(({ operator, value }) =>
      (descending ? FALLING : RISING).has(operator) ? [value] : [],
    ),
    ...(after?.values[0] ? [after.values[0]] : []),
    ...(descending && asOf !== null ? [asOf] : []),
  ].map((value) => into.value(value, 'timestamptz'));
  const needsLeast = things?.packed === true && !descending && known.length === 0;
  const before = needsLeast ? await beforeRecord(sql, arrival) : null;
  if (before) return before;
  const [begin, end] = descending
    ? [`least(${[newest, ...known].join(', ')})`, oldest]
    : [`greatest(${[oldest, ...known].join(', ')})`, newest];
  const asksEnd = !arrival.shared || after !== null; // a page that goes on may be the last one
  const last = asksEnd ? firstFrom(arrival, end, !descending) : `select ${end} as at`;
  const text = `select 1000 * extract(epoch from b.at)::float8 as begin, 1000 * extract(epoch from e.at)::float8 as "end"
from (${firstFrom(arrival, begin, descending)}) b, (${last}) e where e.at is not null`;
  const [ends] = told.parse(await sql.unsafe(text, [...into.values]));
  return ends ? { ...ends, least: needsLeast ? Math.floor(ends.begin) : null } : null;
}

/**
 * The ends of rows that begin before their record does; null: none does. A record begins with the first run that succeeded, but a run
 * that did not may have left rows.
 */
async function beforeRecord(sql: postgres.Sql, arrival: Arrival): Promise<Ends | null> {
  const { begins, view } = arrival;
  const into = new Statement();
  const text = `select floor(1000 * extract(epoch from min(${begins})))::float8 as begin, 1000 * extract(epoch from now())::float8 as "end"
from reporting.${view} where ${begins} >= '-infinity' and ${begins} < ${since(arrival, into)}`; // bounded on both sides, so that PostgreSQL expects few
  const [{ begin, end }] = toldBefore.parse(await sql.unsafe(text, [...into.values]));
  return begin === null ? null : { begin, end, least: begin };
}

/**
 * SQL: when the first row came, from a moment on or back; no row: none is known. Nothing may have come for long: it is looked for in
 * longer and longer times, which others may have filled.
 */
function firstFrom({ begins, view }: Arrival, moment: string, back: boolean): string {
  const [first, from, to, sign] = back ? ['max', '<=', '>=', '-'] : ['min', '>=', '<=', '+'];
  return `select f.at
from (select ${moment} as at) m, unnest(array[${HOURS.slice(0, -1).join(', ')}], array[${HOURS.slice(1).join(', ')}]) as h(near, far),
  lateral (
    select ${first}(${begins}) as at from reporting.${view}
    where ${begins} ${from} m.at ${sign} h.near * interval '1 hour' and ${begins} ${to} m.at ${sign} h.far * interval '1 hour') f
where f.at is not null
limit 1`;
}

/** SQL of since when there is a record. */
const since = ({ dataset }: Arrival, into: Statement) =>
  `(select min(recorded_since) from reporting.recorded_since where dataset = ${into.value(dataset, 'text')})`;
