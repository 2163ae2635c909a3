import type postgres from 'postgres';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import {
  type DownsampledRow,
  downsampleSql,
  isOneLine,
  type PointsSql,
  pointsSql,
} from './downsample-sql.ts';
import { StatementBuilder } from './statement.ts';
import { toIsoTime } from './values.ts';

/** A time range: inclusive start, exclusive end. */
export type DateRange = readonly [from: Date, to: Date];

/** A source of points that can be read in parts of the window. */
export interface PointsSource {
  /**
   * Returns SQL of the points.
   * @param into receives the values of the placeholders in the SQL
   * @param part part of the window that contains the points; null: the whole window
   */
  pointsIn(into: StatementBuilder, part: DateRange | null): PointsSql;
  /**
   * The requested time range. Null: the range of all points. Without a range, only points that an index finds
   * by time are read in pieces.
   */
  readonly window: DateRange | null;
  /**
   * Returns the latest possible start of a part at or before a moment, both in ms since 1970. Data of whole
   * days is never split within a day.
   */
  beginOf(moment: number): number;
}

/** The limits of downsampling, and its time budget. */
export interface DownsampleOptions {
  /** Number of parts of the window, as for {@link downsampleSql}. */
  readonly buckets: number;
  /** Maximum number of lines. */
  readonly maxLines: number;
  /** Time after which no further piece is started, in ms. At least one piece is read. */
  readonly budgetMs: number;
  readonly clock: Clock;
  /** Maximum number of points that one statement reads; a larger number is read in pieces. */
  readonly maxPoints?: number;
  /**
   * Timeout of the first attempt to read everything with one statement, in ms, for points that are not found
   * by time. Default: half of the budget.
   */
  readonly trialTimeoutMs?: number;
}

/** Downsampled points that were read within the time limit. */
export interface DownsampledRows {
  /** Ordered by line, then by time. */
  readonly rows: readonly DownsampledRow[];
  /**
   * Points before this moment were not read, because the time limit was reached. Null: all points were read.
   */
  readonly unreadBefore: Date | null;
}

/** Number of points that a statement reads in about 0.1 s. */
const PIECE_POINTS = 125_000;
/** Target size of a piece, as a multiple of {@link PIECE_POINTS}. */
const PIECE_SIZE_FACTOR = 2;
/** Maximum growth from one piece to the next. */
const MAX_GROWTH = 4;
/** Size of the first piece if points cannot be counted in advance, as a share of the window. */
const FIRST_PIECE_SHARE = 1 / 16;
/** Target duration of reading each further piece, in ms, if points cannot be counted in advance. */
const PIECE_DURATION_MS = 200;
/**
 * Timeouts of the first piece, in ms. After the first timeout, the piece is shortened once, to the share
 * {@link FIRST_PIECE_SHARE} of its length. The sum of all timeouts is less than the timeout of the whole
 * request.
 */
const FIRST_PIECE_TIMEOUTS_MS: readonly number[] = [3_000, 1_500];
/** Timeout of each further piece, in ms. */
const PIECE_TIMEOUT_MS = 2_000;
/** Maximum statement timeout, in ms. */
const MAX_TIMEOUT_MS = 5_000;

/**
 * Reads points and downsamples them. If there are more points than one statement should read, the window is
 * read in pieces, newest first. Each piece is downsampled to its share of the parts, so that the extremes of
 * every part are kept, and every statement is short. If points are found by time, their number is checked in
 * advance. Otherwise, one statement for the whole window is tried first. The lines are the lines with the
 * greatest values in the newest piece.
 * @param sql a connection that is reserved for this call
 * @throws PostgresError if the statement fails
 */
export async function readDownsampled(
  sql: postgres.Sql,
  source: PointsSource,
  options: DownsampleOptions,
): Promise<DownsampledRows> {
  const {
    buckets,
    maxLines,
    budgetMs,
    clock,
    maxPoints = PIECE_POINTS,
    trialTimeoutMs = budgetMs / 2,
  } = options;
  const begun = clock();
  const read = (part: DateRange | null, parts: number, known: readonly Piece[]) =>
    readPart(sql, source, part, parts, maxLines, linesOf(known));
  const { inPieces, ends } = source.pointsIn(new StatementBuilder(), null);
  const many = inPieces ? await findLargeWindow(sql, source, maxPoints) : null;
  if (many === null) {
    const limited = source.window !== null && !inPieces;
    const rows = limited
      ? await runWithTimeout(sql, trialTimeoutMs, () => read(null, buckets, []))
      : await read(null, buckets, []);
    if (rows !== null) return { rows, unreadBefore: null };
  }
  const { begin, end, near } = many ?? uncounted(source.window);
  const pieces: Piece[] = [];
  let [to, length, tried] = [end, end - near, 0];
  do {
    const from = Math.max(begin, source.beginOf(Math.min(Math.floor(to - length), to - 1)));
    const readNextPart = () => {
      const parts = Math.max(1, Math.round((buckets * (to - from)) / (end - begin)));
      return read([new Date(from), new Date(to)], parts, pieces);
    };
    const startedAt = clock();
    const limit = pieces.length > 0 ? PIECE_TIMEOUT_MS : (FIRST_PIECE_TIMEOUTS_MS[tried] ?? 0);
    const rows = many
      ? await readNextPart().catch(returnNullOnTimeout)
      : await runWithTimeout(sql, limit, readNextPart);
    if (rows === null) {
      tried += 1;
      if (many || pieces.length > 0 || tried === FIRST_PIECE_TIMEOUTS_MS.length) break;
      length *= FIRST_PIECE_SHARE;
      continue;
    }
    pieces.unshift({ from, rows });
    const growth = many
      ? (PIECE_SIZE_FACTOR * maxPoints) / Math.max(countOf(rows), 1)
      : PIECE_DURATION_MS / Math.max(clock() - startedAt, 1);
    // At least 1 ms, to guarantee progress.
    length = Math.max(1, (to - from) * Math.min(MAX_GROWTH, growth));
    to = from;
  } while (to > begin && (pieces.length === 0 || clock() - begun < budgetMs));
  return {
    rows: joinPieces(pieces, maxLines, ends !== null),
    unreadBefore: to > begin ? new Date(to) : null,
  };
}

/** The rows of one piece of a window. */
interface Piece {
  /** Start of the piece, in ms since 1970. */
  readonly from: number;
  readonly rows: readonly DownsampledRow[];
}

async function readPart(
  sql: postgres.Sql,
  source: PointsSource,
  part: DateRange | null,
  parts: number,
  most: number,
  known: readonly Line[],
): Promise<readonly DownsampledRow[]> {
  const into = new StatementBuilder();
  const points = source.pointsIn(into, part);
  const first = known.length > 0 && !isOneLine(points) ? into.value(JSON.stringify(known), 'jsonb') : null;
  return await sql.unsafe<DownsampledRow[]>(downsampleSql(points, parts, most, first), [...into.values]);
}

/** Returns the bounds of a window with an unknown number of points. */
function uncounted(window: DateRange | null) {
  const [begin = 0, end = 0] = (window ?? []).map((one) => one.getTime());
  return { begin, end, near: end - (end - begin) * FIRST_PIECE_SHARE };
}

/**
 * Result of the count of the newest points of a line, up to the limit: the number of these points, and the
 * first and the last of these points.
 */
const newest = z.tuple([
  z.object({ points: z.number(), near: z.number().nullable(), last: z.number().nullable() }),
]);
const first = z.tuple([z.object({ first: z.number() })]);
const ms = (instant: string) => `1000 * extract(epoch from ${instant})::float8`;

/**
 * Counts the newest points of a line, up to one more than `atOnce`. Reads the points in the order of the
 * index, because without an ORDER BY, PostgreSQL may read the whole table.
 */
async function newestOf(sql: postgres.Sql, source: PointsSource, atOnce: number) {
  const into = new StatementBuilder();
  const some = firstBy('p.at desc', source.pointsIn(into, null), atOnce + 1);
  const text = `select count(*)::int as points, ${ms('min(at)')} as near, ${ms('max(at)')} as last from (${some}) s`;
  const [found] = newest.parse(await sql.unsafe(text, [...into.values]));
  return found;
}

/** Returns SQL of the times of the first `limit` points, in an order by time. */
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
 * Returns the bounds of the points of a line, in ms since 1970: `begin`, `end`, and `near`, the start of the
 * newest points that one statement should read. Returns null if one statement can read all points.
 */
async function findLargeWindow(sql: postgres.Sql, source: PointsSource, atOnce: number) {
  const { points, near, last } = await newestOf(sql, source, atOnce);
  if (points <= atOnce || near === null || last === null) return null;
  const into = new StatementBuilder();
  // The window may start long before the first point.
  const text = `select ${ms('at')} as first from (${firstBy('p.at', source.pointsIn(into, null), 1)}) p`;
  const [found] = first.parse(await sql.unsafe(text, [...into.values]));
  return { begin: Math.floor(found.first), near: Math.floor(near), end: Math.floor(last) + 1 };
}

/** Returns true if lines have more points together than one statement should read. */
export async function hasManyPoints(
  sql: postgres.Sql,
  lines: readonly PointsSource[],
  atOnce = PIECE_POINTS,
): Promise<boolean> {
  let all = 0;
  for (const line of lines) all += (await newestOf(sql, line, atOnce)).points;
  return all > atOnce;
}

/** Returns the number of points of a piece of one line. */
const countOf = ([row]: readonly DownsampledRow[]) => Number(row?.of ?? 0);

type Line = DownsampledRow['line'];
const keyOf = (line: Line) => JSON.stringify(line);
/** Returns the distinct lines of pieces; the lines of the newest piece come first. */
const linesOf = (pieces: readonly Piece[]): Line[] => [
  ...new Map(pieces.toReversed().flatMap(({ rows }) => rows.map(({ line }) => [keyOf(line), line]))).values(),
];

/**
 * Joins the lines of consecutive pieces.
 * @param carriesForward true if a value is valid until the next value, so that it is repeated at the start of
 * the next piece
 */
function joinPieces(pieces: readonly Piece[], most: number, carriesForward: boolean): DownsampledRow[] {
  const lines = String(Math.max(0, ...pieces.map(({ rows: [row] }) => Number(row?.lines ?? 0))));
  return linesOf(pieces)
    .slice(0, most)
    .flatMap((line) => {
      const key = keyOf(line);
      const all: DownsampledRow[] = [];
      let of = 0;
      for (const { from, rows } of pieces) {
        const own = rows.filter((row) => keyOf(row.line) === key);
        const [first] = own;
        const again =
          carriesForward &&
          first?.value === all.at(-1)?.value &&
          Date.parse(toIsoTime(first?.at ?? '')) === from
            ? 1
            : 0;
        of += countOf(own) - again;
        all.push(...own.slice(again));
      }
      return all.map((row) => ({ ...row, of: String(of), lines }));
    });
}

/**
 * Runs a statement with a timeout. Returns null if the statement times out.
 * @param limit in ms; 0: the statement is not run
 */
async function runWithTimeout<Answer>(
  sql: postgres.Sql,
  limit: number,
  run: () => Promise<Answer>,
): Promise<Answer | null> {
  if (limit <= 0) return null;
  await sql`select set_config('statement_timeout', ${String(Math.ceil(Math.min(limit, MAX_TIMEOUT_MS)))}, false)`;
  try {
    return await run().catch(returnNullOnTimeout);
  } finally {
    await sql.unsafe('reset statement_timeout');
  }
}

/**
 * Returns null for a statement timeout (a piece had many more points than the previous piece), and throws
 * other errors.
 */
function returnNullOnTimeout(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === '57014') return null;
  throw error;
}
