import type postgres from 'postgres';
import type { Clock } from '../../../lib/clock.ts';
import { type ChartGrain, endOfGrain } from '../../../reporting/relations/chart-sources.ts';
import { type ChartLine, cutLines, laterMoment, readLines } from '../../../reporting/relations/lines.ts';
import type { Line } from '../parts/line-chart.tsx';
import type { ChartRequest } from './chart-data.ts';
import { type CoveredRanges, fillEmptyBuckets, readCovered } from './empty-buckets.ts';

/** A line as known at a moment. */
interface LineAtMoment {
  readonly line: ChartLine;
  /** The moment in a format that PostgreSQL parses; null: now. */
  readonly moment: string | null;
}

/** Returns the key of a line as a text. */
const keyOfLine = ({ line }: LineAtMoment): string => JSON.stringify(line.of);

const HOUR = 3_600_000;
/** Time between two points of a metric, by interval of the metric, in ms. */
const INTERVALS: Readonly<Record<string, number>> = {
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 31 * 24 * HOUR,
};
/** Maximum ratio of the time between two points to the expected time. A longer time is a gap. */
const TOLERANCE = 1.5;

/**
 * Returns the expected time between consecutive points, in ms.
 * @param interval interval of a metric; undefined for other datasets
 * @param every time between two readings, in ms
 */
const spacingOf = (interval: string | undefined, every: number): number => INTERVALS[interval ?? ''] ?? every;

/**
 * Inserts a null wherever points are missing, so that no line crosses a gap.
 * @param spacing expected time between points, in ms. If the median time is longer, for example because of a
 * longer configured interval, the median is used
 * @param bucket width of the buckets of the downsampling, in ms; points within one bucket have no gap
 */
export function withGaps(points: Line['points'], spacing: number, bucket: number): Line['points'] {
  const distances = points.slice(1).map(([at], place) => at - (points[place]?.[0] ?? at));
  const median = distances.toSorted((one, other) => one - other)[Math.floor(distances.length / 2)] ?? 0;
  const longest = Math.max(spacing, median, bucket) * TOLERANCE;
  return points.flatMap((point, place) =>
    (distances[place] ?? 0) > longest ? [point, [point[0] + longest / 2, null] as const] : [point],
  );
}

/**
 * Adds a null at the end of each hour, day, month or year that is not directly followed by another point, so
 * that no line is drawn where there is no value.
 * @param bucket as for {@link withGaps}
 */
export function withEnds(points: Line['points'], grain: ChartGrain, bucket: number): Line['points'] {
  return points.flatMap((point, place) => {
    const end = endOfGrain(point[0], grain);
    const next = points[place + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    return next > end + bucket ? [point, [end, null] as const] : [point];
  });
}

type LineKey = Readonly<Record<string, string | null>>;

/**
 * Returns the shortest labels that distinguish the lines. If there is only one line, its label contains all
 * selected keys.
 */
function labelsOf(all: readonly LineAtMoment[], { keyValues, moments }: ChartRequest): string[] {
  const names = distinguishingColumns(all.map(({ line }) => line.of));
  const one = Object.values(keyValues).flat().join(' ');
  return all.map(({ line, moment }) => {
    const of = wordsOf(line.of, names);
    const momentLabel = moment ? `as of ${moment.slice(0, 16).replace('T', ' ')}` : 'as of now';
    return [of || one || line.of.value, ...(moments.length > 1 || moment ? [momentLabel] : [])].join(' ');
  });
}

const wordsOf = (key: LineKey, names: readonly string[]) =>
  names.map((name) => key[name] ?? 'none').join(' ');

/** Returns the first columns that suffice to distinguish all keys. */
function distinguishingColumns(keys: readonly LineKey[]): string[] {
  const countOf = (names: readonly string[]) => new Set(keys.map((one) => wordsOf(one, names))).size;
  const all = Object.keys(keys[0] ?? {});
  const chosen: string[] = [];
  for (const name of all) {
    if (countOf(chosen) === countOf(all)) break;
    if (countOf([...chosen, name]) > countOf(chosen)) chosen.push(name);
  }
  return chosen;
}

/**
 * Number of buckets of a window. At most four points of each bucket are drawn. If the window has at most four
 * times as many points as buckets, all points are drawn.
 */
const BUCKET_COUNT = 500;
/** Maximum time for reading the points of a chart, in ms. A page should be ready within about 1 s. */
const READ_TIMEOUT_MS = 800;
export const MAX_LINES = 8;

export interface DrawnLine extends Line {
  /** Points: times as ISO 8601, and the values with every digit. */
  readonly exact: readonly (readonly [at: string, value: string])[];
  /** Number of points in the window. */
  readonly count: number;
  /** Key of the line, by column. */
  readonly of: ChartLine['of'];
}

export interface DrawnLines {
  readonly lines: readonly DrawnLine[];
  /** Number of available lines; those with the greatest values are drawn. */
  readonly of: number;
  /** Reasons why there are no points of a moment: there was no record, or the query was refused. */
  readonly missing: readonly string[];
  /** Start of the part that was read in time; null if the whole window was read. */
  readonly unreadBefore: Date | null;
}

/**
 * Reads a line for each key and moment.
 * @param clock measures the duration of the queries, for their timeout
 */
export async function readChartLines(
  sql: postgres.Sql,
  drawing: ChartRequest,
  clock: Clock,
): Promise<DrawnLines> {
  const now = clock();
  const { drawable, moments, ...linesQuery } = drawing;
  const most = Math.floor(MAX_LINES / moments.length);
  const found: LineAtMoment[] = [];
  const missing: string[] = [];
  let of = 0;
  let unread: Date | null = null;
  for (const moment of moments) {
    const result = await readLines(
      sql,
      drawable,
      { ...linesQuery, asOf: moment },
      { maxLines: most, buckets: BUCKET_COUNT, budgetMs: READ_TIMEOUT_MS / moments.length, clock },
    ).catch(refusalMessage);
    if (typeof result === 'string') missing.push(result);
    else {
      found.push(...result.lines.map((line) => ({ line, moment })));
      of = Math.max(of, result.of);
      unread = laterMoment(unread, result.unreadBefore);
    }
  }
  // For two moments, the same part of the window is drawn.
  const all = found.flatMap(({ line, moment }) =>
    cutLines([line], unread).map((one) => ({ line: one, moment })),
  );
  // The order does not depend on the values, so that a line keeps its color from one window to the next.
  all.sort((one, other) =>
    keyOfLine(one) < keyOfLine(other) ? -1 : keyOfLine(one) > keyOfLine(other) ? 1 : 0,
  );
  const labelled = labelsOf(all, drawing);
  const marks = markDifferences(all);
  const covered = drawable.counted && moments.includes(null) ? await readCovered(sql, drawing) : [];
  const lines = all.map((lineAtMoment, place): DrawnLine => {
    const { points, count, of: key } = lineAtMoment.line;
    return {
      label: labelled[place] ?? '',
      points: drawnPoints(lineAtMoment, drawing, unread, covered, now),
      marks: marks.get(lineAtMoment) ?? [],
      exact: points.flatMap(([at, value]) => (value === null ? [] : [[at, value] as const])),
      count,
      of: key,
    };
  });
  return { lines, of, missing, unreadBefore: unread };
}

/**
 * Returns the message of an error if there is no record at a moment, or the query was refused.
 * @throws the error if it has another reason
 */
function refusalMessage(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === '22023') return error.message;
  throw error;
}

/**
 * Returns the points to draw, with gaps where values are unknown.
 * @param unread start of the part that was read; null if the whole window was read
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
    const areZerosKnown = drawable.counted && moment === null && !isThinned;
    return withEnds(areZerosKnown ? fillEmptyBuckets(points, line, read, covered) : points, grain, bucket);
  }
  const last = points.at(-1);
  if (!last || last[1] === null) return points;
  const until = Math.min(to ?? now, moment === null ? now : Date.parse(moment));
  return until > last[0] ? [...points, [until, last[1]]] : points;
}

/**
 * Finds the points of a line that differ between two moments of the record.
 * @returns times of the points in ms since 1970, by line
 */
function markDifferences(all: readonly LineAtMoment[]): ReadonlyMap<LineAtMoment, readonly number[]> {
  const byLine = new Map<string, LineAtMoment[]>();
  for (const lineAtMoment of all) {
    const key = keyOfLine(lineAtMoment);
    byLine.set(key, [...(byLine.get(key) ?? []), lineAtMoment]);
  }
  const marks = new Map<LineAtMoment, number[]>();
  for (const [one, other] of byLine.values()) {
    if (!one || !other) continue;
    const values = new Map(one.line.points);
    const differing = other.line.points.flatMap(([at, value]) => {
      const before = values.get(at);
      return value !== null && before !== undefined && before !== null && before !== value
        ? [Date.parse(at)]
        : [];
    });
    marks.set(one, differing).set(other, differing);
  }
  return marks;
}
