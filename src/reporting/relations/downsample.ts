import type postgres from 'postgres';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { type ThinnedRow, thinned } from './downsample-sql.ts';
import { isOneLine, type PointsSql, pointsSql } from './points-sql.ts';
import { Statement } from './statement.ts';
import { isoOf } from './values.ts';

/** A time; its end is not in it. */
export type Span = readonly [from: Date, to: Date];

/** Where points are, and how a part of them is asked for. */
export interface PointsSource {
  /**
   * The points, whose values it puts into a statement.
   * @param part only those in this part of the window; null: all
   */
  pointsIn(into: Statement, part: Span | null): PointsSql;
  /** The time that is read; null: that of all points, and only points that are found by time are read in pieces. */
  readonly window: Span | null;
  /** The last moment at which a part may begin that is not after this one, in ms since 1970: what is of whole days is not cut. */
  beginOf(moment: number): number;
}

/** How points are thinned out, and how long reading them may take. */
export interface Thinning {
  /** Into how many parts the window is cut, as for {@link thinned}. */
  readonly buckets: number;
  /** How many lines are told. */
  readonly most: number;
  /** No piece is begun after this time, ms. One is always read. */
  readonly budget: number;
  readonly clock: Clock;
  /** So many points are read by one statement, without pieces. */
  readonly atOnce?: number;
  /** What is not found by time is tried by one statement for so long, ms; half of the budget unless told. */
  readonly trial?: number;
}

/** Points that were thinned out, as far as they were read. */
export interface ThinnedRows {
  /** By line, and then by time. */
  readonly rows: readonly ThinnedRow[];
  /** What lies before this moment was not read in time; null: all was. */
  readonly unreadBefore: Date | null;
}

/** So many points are looked for in about a tenth of a second. */
const AT_ONCE = 125_000;
/** A piece has about so many times as many; its length is at most so many times that of the one before. */
const OF_PIECE = 2;
const GROWTH = 4;
/** Where points cannot be counted before, the first piece is this share of the window, and the next ones take about so long, ms. */
const FIRST_SHARE = 1 / 16;
const LASTING = 200;
/**
 * The longest that its statement may take, ms: then it is shortened by its share again, once. All of them together have to end before
 * a page is given up.
 */
const FIRST_LIMITS: readonly number[] = [3_000, 1_500];
/** The longest that the others may take, ms. */
const LONGEST = 2_000;
/** The longest that any may take, ms. */
const MOST = 5_000;

/**
 * Reads points, thinned out. Where there are more than one statement should read, the window is read in pieces, the newest first, each
 * thinned out as its share of the window: the extremes of every part survive, and no statement takes long. Of points that are found
 * by time it is known before; others are tried by one statement. The lines are those with the greatest values in the first piece.
 * @param sql a connection that nobody else uses meanwhile
 * @throws PostgresError as the statement does
 */
export async function readThinned(
  sql: postgres.Sql,
  source: PointsSource,
  thinning: Thinning,
): Promise<ThinnedRows> {
  const { buckets, most, budget, clock, atOnce = AT_ONCE, trial = budget / 2 } = thinning;
  const begun = clock();
  const read = (part: Span | null, parts: number, known: readonly Piece[]) =>
    readPart(sql, source, part, parts, most, linesOf(known));
  const { inPieces, ends } = source.pointsIn(new Statement(), null);
  const many = inPieces ? await manyPoints(sql, source, atOnce) : null;
  if (many === null) {
    const limited = source.window !== null && !inPieces;
    const rows = limited
      ? await within(sql, trial, () => read(null, buckets, []))
      : await read(null, buckets, []);
    if (rows !== null) return { rows, unreadBefore: null };
  }
  const { begin, end, near } = many ?? uncounted(source.window);
  const pieces: Piece[] = [];
  let [to, length, tried] = [end, end - near, 0];
  do {
    const from = Math.max(begin, source.beginOf(Math.min(Math.floor(to - length), to - 1)));
    const ask = () => {
      const parts = Math.max(1, Math.round((buckets * (to - from)) / (end - begin)));
      return read([new Date(from), new Date(to)], parts, pieces);
    };
    const asked = clock();
    const limit = pieces.length > 0 ? LONGEST : (FIRST_LIMITS[tried] ?? 0);
    const rows = many ? await ask().catch(tooLong) : await within(sql, limit, ask);
    if (rows === null) {
      tried += 1;
      if (many || pieces.length > 0 || tried === FIRST_LIMITS.length) break;
      length *= FIRST_SHARE;
      continue;
    }
    pieces.unshift({ from, rows });
    const growth = many
      ? (OF_PIECE * atOnce) / Math.max(countOf(rows), 1)
      : LASTING / Math.max(clock() - asked, 1);
    // At least a millisecond, or else it would never end.
    length = Math.max(1, (to - from) * Math.min(GROWTH, growth));
    to = from;
  } while (to > begin && (pieces.length === 0 || clock() - begun < budget));
  return { rows: joined(pieces, most, ends !== null), unreadBefore: to > begin ? new Date(to) : null };
}

/** What was read of a part of a window. */
interface Piece {
  /** Ms since 1970. */
  readonly from: number;
  readonly rows: readonly ThinnedRow[];
}

async function readPart(
  sql: postgres.Sql,
  source: PointsSource,
  part: Span | null,
  parts: number,
  most: number,
  known: readonly Line[],
): Promise<readonly ThinnedRow[]> {
  const into = new Statement();
  const points = source.pointsIn(into, part);
  // Also as of a moment: a piece has few parts, and whether there was a record is asked for each of them. Not where rows are in several
  // parts: for each lookup PostgreSQL would read all values that ended since.
  const found =
    part !== null && points.inPieces && points.parts === null ? { ...points, foundByTime: true } : points;
  const first = known.length > 0 && !isOneLine(points) ? into.value(JSON.stringify(known), 'jsonb') : null;
  return await sql.unsafe<ThinnedRow[]>(thinned(found, parts, most, first), [...into.values]);
}

/** A window of whose points nothing is known. */
function uncounted(window: Span | null) {
  const [begin = 0, end = 0] = (window ?? []).map((one) => one.getTime());
  return { begin, end, near: end - (end - begin) * FIRST_SHARE };
}

/** Of the newest points of a line, as many as are looked for: how many there are, and the first and last of them. */
const newest = z.tuple([
  z.object({ points: z.number(), near: z.number().nullable(), last: z.number().nullable() }),
]);
const first = z.tuple([z.object({ first: z.number() })]);
const ms = (instant: string) => `1000 * extract(epoch from ${instant})::float8`;

/** The newest points of a line, in the order of its index: without an order the whole table may be read. */
async function newestOf(sql: postgres.Sql, source: PointsSource, atOnce: number) {
  const into = new Statement();
  const some = firstBy('p.at desc', source.pointsIn(into, null), atOnce + 1);
  const text = `select count(*)::int as points, ${ms('min(at)')} as near, ${ms('max(at)')} as last from (${some}) s`;
  const [found] = newest.parse(await sql.unsafe(text, [...into.values]));
  return found;
}

/** SQL: when the first so many points were, in an order by time. */
function firstBy(order: string, points: PointsSql, limit: number): string {
  const first = (from: string) => `select p.at from (${from}) p order by ${order} limit ${limit}`;
  const { parts } = points;
  if (parts === null) return first(pointsSql(points));
  return first(
    parts()
      .map((part) => `(${first(pointsSql({ ...points, ...part }))})`)
      .join('\nunion all\n'),
  );
}

/**
 * Where the points of a line lie that are more than one statement should read, ms since 1970: from `begin` to `end`, and as many as it
 * should read from `near` on. Null: they are not that many.
 */
async function manyPoints(sql: postgres.Sql, source: PointsSource, atOnce: number) {
  const { points, near, last } = await newestOf(sql, source, atOnce);
  if (points <= atOnce || near === null || last === null) return null;
  const into = new Statement();
  // The window may begin long before the first point.
  const text = `select ${ms('at')} as first from (${firstBy('p.at', source.pointsIn(into, null), 1)}) p`;
  const [found] = first.parse(await sql.unsafe(text, [...into.values]));
  return { begin: Math.floor(found.first), near: Math.floor(near), end: Math.floor(last) + 1 };
}

/** Whether lines have more points together than one statement should read. */
export async function areMany(
  sql: postgres.Sql,
  lines: readonly PointsSource[],
  atOnce = AT_ONCE,
): Promise<boolean> {
  let all = 0;
  for (const line of lines) all += (await newestOf(sql, line, atOnce)).points;
  return all > atOnce;
}

/** How many points a piece of one line has. */
const countOf = ([row]: readonly ThinnedRow[]) => Number(row?.of ?? 0);

type Line = ThinnedRow['line'];
const keyOf = (line: Line) => JSON.stringify(line);
/** The lines of pieces, each once: those of the newest first. */
const linesOf = (pieces: readonly Piece[]): Line[] => [
  ...new Map(pieces.toReversed().flatMap(({ rows }) => rows.map(({ line }) => [keyOf(line), line]))).values(),
];

/** The lines of pieces that follow each other. @param held a value that holds over the begin of a piece is told again there */
function joined(pieces: readonly Piece[], most: number, held: boolean): ThinnedRow[] {
  const lines = String(Math.max(0, ...pieces.map(({ rows: [row] }) => Number(row?.lines ?? 0))));
  return linesOf(pieces)
    .slice(0, most)
    .flatMap((line) => {
      const key = keyOf(line);
      const all: ThinnedRow[] = [];
      let of = 0;
      for (const { from, rows } of pieces) {
        const own = rows.filter((row) => keyOf(row.line) === key);
        const [first] = own;
        const again =
          held && first?.value === all.at(-1)?.value && Date.parse(isoOf(first?.at ?? '')) === from ? 1 : 0;
        of += countOf(own) - again;
        all.push(...own.slice(again));
      }
      return all.map((row) => ({ ...row, of: String(of), lines }));
    });
}

/** What a statement answers; null: it takes longer than that. @param limit ms; 0: it is not asked */
async function within<Answer>(
  sql: postgres.Sql,
  limit: number,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  if (limit <= 0) return null;
  await sql`select set_config('statement_timeout', ${String(Math.ceil(Math.min(limit, MOST)))}, false)`;
  try {
    return await ask().catch(tooLong);
  } finally {
    await sql.unsafe('reset statement_timeout');
  }
}

/** The database ended a statement that took too long: a piece had many more points than the one before. */
function tooLong(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === '57014') return null;
  throw error;
}
