import type postgres from 'postgres';
import type { Clock } from '../../../lib/clock.ts';
import { type ChartLine, cutLines, laterMoment, readLines } from '../../../reporting/relations/lines.ts';
import type { Line } from '../parts/line-chart.tsx';
import type { ChartRequest } from './chart-data.ts';
import { spacingOf, withEnds, withGaps } from './gaps.ts';
import { type LineAtMoment, thingOf } from './known-line.ts';
import { labelsOf } from './labels.ts';
import { type CoveredRanges, fillEmptyBuckets, readCovered } from './nothing-happened.ts';
import { markDifferences } from './revisions.ts';

/**
 * Number of buckets of a window. At most four points of each are drawn, or all points of the window if there
 * are at most four times as many.
 */
const BUCKET_COUNT = 500;
/** Maximum time for reading the points of a chart, in ms: the page has to be ready within about 1 s. */
const READ_TIMEOUT_MS = 800;
/** Maximum number of lines of a chart. */
export const MAX_LINES = 8;

/** A line with its exact values. */
export interface DrawnLine extends Line {
  /** Times as ISO 8601, and the values with every digit. */
  readonly exact: readonly (readonly [at: string, value: string])[];
  /** Number of points in the window. */
  readonly count: number;
  /** Its key, by column. */
  readonly of: ChartLine['of'];
}

/** The lines of a chart. */
export interface DrawnLines {
  readonly lines: readonly DrawnLine[];
  /** Number of available lines; those with the greatest values are drawn. */
  readonly of: number;
  /** Reasons why there are no points of a moment: there was no record, or the query was refused. */
  readonly missing: readonly string[];
  /** Start of the part that was read in time; null if all of it was read. */
  readonly unreadBefore: Date | null;
}

/**
 * Reads a line for each key and moment.
 * @param clock measures the time that the query may take
 */
export async function readChartLines(
  sql: postgres.Sql,
  drawing: ChartRequest,
  clock: Clock,
): Promise<DrawnLines> {
  const now = clock();
  const { drawable, moments, ...question } = drawing;
  const most = Math.floor(MAX_LINES / moments.length);
  const found: LineAtMoment[] = [];
  const missing: string[] = [];
  let of = 0;
  let unread: Date | null = null;
  for (const moment of moments) {
    const known = await readLines(
      sql,
      drawable,
      { ...question, asOf: moment },
      { maxLines: most, buckets: BUCKET_COUNT, budgetMs: READ_TIMEOUT_MS / moments.length, clock },
    ).catch(refusalMessage);
    if (typeof known === 'string') missing.push(known);
    else {
      found.push(...known.lines.map((line) => ({ line, moment })));
      of = Math.max(of, known.of);
      unread = laterMoment(unread, known.unreadBefore);
    }
  }
  // For two moments, the same part of the window is drawn.
  const all = found.flatMap(({ line, moment }) =>
    cutLines([line], unread).map((one) => ({ line: one, moment })),
  );
  // The order does not depend on the values, so that a line keeps its color from one window to the next.
  all.sort((one, other) => (thingOf(one) < thingOf(other) ? -1 : thingOf(one) > thingOf(other) ? 1 : 0));
  const labelled = labelsOf(all, drawing);
  const marks = markDifferences(all);
  const covered = drawable.counted && moments.includes(null) ? await readCovered(sql, drawing) : [];
  const lines = all.map((known, place): DrawnLine => {
    const { points, count, of: thing } = known.line;
    return {
      label: labelled[place] ?? '',
      points: drawnPoints(known, drawing, unread, covered, now),
      marks: marks.get(known) ?? [],
      exact: points.flatMap(([at, value]) => (value === null ? [] : [[at, value] as const])),
      count,
      of: thing,
    };
  });
  return { lines, of, missing, unreadBefore: unread };
}

/** Returns the message if there is no record at a moment, or if the query was refused. */
function refusalMessage(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === '22023') return error.message;
  throw error;
}

/**
 * Returns the points to draw, with gaps where values are unknown.
 * @param unread start of the part that was read; null for all
 */
function drawnPoints(
  { line, moment }: LineAtMoment,
  drawing: ChartRequest,
  unread: Date | null,
  covered: readonly CoveredRanges[],
  now: number,
): Line['points'] {
  const { drawable, grain, window, keyValues } = drawing;
  const points = line.points.map(([at, value]) => [Date.parse(at), value] as const);
  const [from, to] = window.map((one) => one.getTime());
  const width = (to ?? 0) - (from ?? 0);
  const isThinned = line.count > points.length;
  const bucket = isThinned ? width / BUCKET_COUNT : 0;
  if (drawable.draws === 'line') {
    const every = drawable.dataset?.every ?? 86_400_000 / (grain === 'hour' ? 24 : 1);
    const [interval] = keyValues.time_interval ?? [];
    return withGaps(points, spacingOf(line.of.time_interval ?? interval, every), bucket);
  }
  if (grain !== null) {
    const read: ChartRequest = { ...drawing, window: [unread ?? window[0], window[1]] };
    // The coverage at a past moment is not stored, and the dropped points of a downsampled line are unknown.
    const showsNothing = drawable.counted && moment === null && !isThinned;
    return withEnds(showsNothing ? fillEmptyBuckets(points, line, read, covered) : points, grain, bucket);
  }
  const last = points.at(-1);
  if (!last || last[1] === null) return points;
  const until = Math.min(to ?? now, moment === null ? now : Date.parse(moment));
  return until > last[0] ? [...points, [until, last[1]]] : points;
}
