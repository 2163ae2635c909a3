import type postgres from 'postgres';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { type PointsSql, pointsSql } from './points-sql.ts';
import { Statement } from './statement.ts';
import { type ThinnedRow, thinned } from './thinned.ts';

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

/**
 * Reads points, thinned out. Where there are more than one statement should read, the window is read in pieces, the newest first, each
 * thinned out as its share of the window: the extremes of every part survive, and no statement takes long.
 * @param pointsIn the points, whose values it puts into a statement
 * @throws PostgresError as the statement does
 */
export async function readThinned(
  sql: postgres.Sql,
  pointsIn: (into: Statement) => PointsSql,
  { buckets, most, budget, clock, atOnce = AT_ONCE }: Thinning,
): Promise<ThinnedRows> {
  const begun = clock();
  const read = async (into: Statement, points: PointsSql, parts: number): Promise<readonly ThinnedRow[]> =>
    await sql.unsafe<ThinnedRow[]>(thinned(points, parts, most), [...into.values]);
  const into = new Statement();
  const points = pointsIn(into);
  const many = points.inPieces ? await manyPoints(sql, pointsIn, atOnce) : null;
  if (many === null) return { rows: await read(into, points, buckets), unreadBefore: null };

  const { begin, near, end } = many;
  const pieces: (readonly ThinnedRow[])[] = [];
  let to = end;
  let length = end - near;
  do {
    const from = Math.max(begin, Math.floor(to - length));
    const parts = Math.max(1, Math.round((buckets * (to - from)) / (end - begin)));
    const own = new Statement();
    const rows = await read(own, within(pointsIn(own), from, to, own), parts).catch(tooLong);
    if (rows === null) break;
    pieces.unshift(rows);
    to = from;
    // At least a millisecond, or else it would never end.
    length = Math.max(1, length * Math.min(GROWTH, (OF_PIECE * atOnce) / Math.max(countOf(rows), 1)));
  } while (to > begin && clock() - begun < budget);
  return { rows: joined(pieces), unreadBefore: to > begin ? new Date(to) : null };
}

/** Of the newest points of a line, as many as are looked for: how many there are, and the first and last of them. */
const newest = z.tuple([
  z.object({ points: z.number(), near: z.number().nullable(), last: z.number().nullable() }),
]);
const first = z.tuple([z.object({ first: z.number() })]);
const ms = (instant: string) => `1000 * extract(epoch from ${instant})::float8`;

/** The newest points of a line, in the order of its index: without an order the whole table may be read. */
async function newestOf(sql: postgres.Sql, pointsIn: (into: Statement) => PointsSql, atOnce: number) {
  const into = new Statement();
  const some = `select p.at from (${pointsSql(pointsIn(into))}) p order by p.at desc limit ${atOnce + 1}`;
  const text = `select count(*)::int as points, ${ms('min(at)')} as near, ${ms('max(at)')} as last from (${some}) s`;
  const [found] = newest.parse(await sql.unsafe(text, [...into.values]));
  return found;
}

/**
 * Where the points of a line lie that are more than one statement should read, ms since 1970: from `begin` to `end`, and as many as it
 * should read from `near` on. Null: they are not that many.
 */
async function manyPoints(sql: postgres.Sql, pointsIn: (into: Statement) => PointsSql, atOnce: number) {
  const { points, near, last } = await newestOf(sql, pointsIn, atOnce);
  if (points <= atOnce || near === null || last === null) return null;
  const into = new Statement();
  // The window may begin long before the first point.
  const text = `select ${ms('min(at)')} as first from (${pointsSql(pointsIn(into))}) p`;
  const [found] = first.parse(await sql.unsafe(text, [...into.values]));
  return { begin: Math.floor(found.first), near: Math.floor(near), end: Math.floor(last) + 1 };
}

/** Whether lines have more points together than one statement should read. */
export async function areMany(
  sql: postgres.Sql,
  lines: readonly ((into: Statement) => PointsSql)[],
  atOnce = AT_ONCE,
): Promise<boolean> {
  let all = 0;
  for (const pointsIn of lines) all += (await newestOf(sql, pointsIn, atOnce)).points;
  return all > atOnce;
}

/** The points of a piece of a window. @param from and @param to ms since 1970 */
function within(points: PointsSql, from: number, to: number, into: Statement): PointsSql {
  const [begin, end] = [from, to].map((at) => into.value(new Date(at).toISOString(), 'timestamptz'));
  return {
    ...points,
    conditions: [...points.conditions, `${points.at} >= ${begin}`, `${points.at} < ${end}`],
    begin: begin ?? null,
    end: end ?? null,
    // Also as of a moment: a piece has few parts, and whether there was a record is asked for each of them.
    foundByTime: true,
  };
}

/** How many points a piece has. */
const countOf = ([row]: readonly ThinnedRow[]) => Number(row?.of ?? 0);

/** The line of pieces that follow each other. */
function joined(pieces: readonly (readonly ThinnedRow[])[]): ThinnedRow[] {
  const of = String(pieces.reduce((sum, piece) => sum + countOf(piece), 0));
  return pieces.flat().map((row) => ({ ...row, of }));
}

/** The database ended a statement that took too long: a piece had many more points than the one before. */
function tooLong(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === '57014') return null;
  throw error;
}
