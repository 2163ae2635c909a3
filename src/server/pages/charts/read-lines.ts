import type postgres from 'postgres';
import type { Clock } from '../../../lib/clock.ts';
import { type FoundLine, latest, readLines, since } from '../../../reporting/relations/lines.ts';
import type { Line } from '../parts/line-chart.tsx';
import type { Drawing } from './chart-data.ts';
import { spacingOf, withEnds, withGaps } from './gaps.ts';
import { type Known, thingOf } from './known-line.ts';
import { labelsOf } from './labels.ts';
import { type Covered, readCovered, withNothing } from './nothing-happened.ts';
import { markDifferences } from './revisions.ts';

/** Into how many parts a window is cut: of each at most four points are drawn, and all where four times as many fit. */
const BUCKETS = 500;
/** The time in which the points of a chart are read, ms: the page has to be there within about a second. */
const BUDGET = 800;
/** The most lines of a chart. */
export const MOST_LINES = 8;

/** A line with its exact values. */
export interface DrawnLine extends Line {
  /** Times as ISO 8601 and the values with every digit. */
  readonly exact: readonly (readonly [at: string, value: string])[];
  /** How many points there are in the window. */
  readonly count: number;
  /** What it is of, by column. */
  readonly of: FoundLine['of'];
}

/** The lines of a chart. */
export interface Lines {
  readonly lines: readonly DrawnLine[];
  /** How many there are: those with the greatest values are drawn. */
  readonly of: number;
  /** Why there is nothing of a moment: there was no record, or the question was refused. */
  readonly missing: readonly string[];
  /** There were too many points: what lies before this moment is not drawn; null: all is. */
  readonly unreadBefore: Date | null;
}

/** Reads a line for each thing and moment. @param clock how long it may take */
export async function readDrawing(sql: postgres.Sql, drawing: Drawing, clock: Clock): Promise<Lines> {
  const now = clock();
  const { drawable, moments, ...question } = drawing;
  const most = Math.floor(MOST_LINES / moments.length);
  const found: Known[] = [];
  const missing: string[] = [];
  let of = 0;
  let unread: Date | null = null;
  for (const moment of moments) {
    const known = await readLines(
      sql,
      drawable,
      { ...question, asOf: moment },
      { most, buckets: BUCKETS, budget: BUDGET / moments.length, clock },
    ).catch(refusal);
    if (typeof known === 'string') missing.push(known);
    else {
      found.push(...known.lines.map((line) => ({ line, moment })));
      of = Math.max(of, known.of);
      unread = latest(unread, known.unreadBefore);
    }
  }
  // What is drawn of one moment is drawn of the other.
  const all = found.flatMap(({ line, moment }) =>
    since([line], unread).map((one) => ({ line: one, moment })),
  );
  // In an order that does not follow from the values, so that a line keeps its colour from one window to the next.
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

/** There is no record at a moment, or the question has no answer: that is told. */
function refusal(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === '22023') return error.message;
  throw error;
}

/** The points as they are drawn: with gaps where nothing is known. @param unread what is before it was not read */
function drawnPoints(
  { line, moment }: Known,
  drawing: Drawing,
  unread: Date | null,
  covered: readonly Covered[],
  now: number,
): Line['points'] {
  const { drawable, grain, window, told } = drawing;
  const points = line.points.map(([at, value]) => [Date.parse(at), value] as const);
  const [from, to] = window.map((one) => one.getTime());
  const width = (to ?? 0) - (from ?? 0);
  const isThinned = line.count > points.length;
  const bucket = isThinned ? width / BUCKETS : 0;
  if (drawable.draws === 'line') {
    const every = drawable.dataset?.every ?? 86_400_000 / (grain === 'hour' ? 24 : 1);
    const [interval] = told.time_interval ?? [];
    return withGaps(points, spacingOf(line.of.time_interval ?? interval, every), bucket);
  }
  if (grain !== null) {
    const read: Drawing = { ...drawing, window: [unread ?? window[0], window[1]] };
    // What was recorded completely at a past moment is not kept, and which counts were left out of a line is not told.
    const showsNothing = drawable.counted && moment === null && !isThinned;
    return withEnds(showsNothing ? withNothing(points, line, read, covered) : points, grain, bucket);
  }
  const last = points.at(-1);
  if (!last || last[1] === null) return points;
  const until = Math.min(to ?? now, moment === null ? now : Date.parse(moment));
  return until > last[0] ? [...points, [until, last[1]]] : points;
}
