import type postgres from 'postgres';
import { readSeries, seriesParameters } from '../../../api/series.ts';
import { BadRequest } from '../page.ts';
import type { Line } from '../parts/line-chart.tsx';
import type { Chartable } from './chartable.ts';
import { spacingOf, withGaps } from './gaps.ts';

/** Into how many parts a window is cut: of each at most four points are drawn. */
const BUCKETS = 400;
const MOST_LINES = 8;

/** What is drawn: a window, the things, and the moments of knowledge. */
export interface Drawing {
  readonly chartable: Chartable;
  readonly column: string;
  readonly things: Readonly<Record<string, string>>;
  readonly window: readonly [from: Date, to: Date];
  /** Null: now. */
  readonly moments: readonly (Date | null)[];
}

/** A line with its exact values. */
export interface DrawnLine extends Line {
  /** Times as ISO 8601 and the values with every digit. */
  readonly exact: readonly (readonly [at: string, value: string])[];
  /** How many points there are in the window. */
  readonly of: number;
  /** Why there is none: there was no record at the moment; null: there is one. */
  readonly missing: string | null;
}

/** Reads a line for each thing and moment. @throws BadRequest when a parameter is not what it may be */
export async function readLines(sql: postgres.Sql, drawing: Drawing): Promise<DrawnLine[]> {
  const { chartable, column, window, moments } = drawing;
  const { dataset, source } = chartable;
  const schema = seriesParameters(source);
  const [from, to] = window;
  const values = Object.entries(drawing.things).map(([name, text]) => [name, valuesOf(text)] as const);
  if (values.reduce((count, [, all]) => count * all.length, moments.length) > MOST_LINES)
    throw new BadRequest([`of: a chart has at most ${MOST_LINES} lines: name fewer things or one moment`]);
  const lines: DrawnLine[] = [];
  for (const thing of combinations(values))
    for (const moment of moments) {
      const said = {
        ...thing,
        column,
        from: from.toISOString(),
        to: to.toISOString(),
        buckets: String(BUCKETS),
        ...(moment ? { as_of: moment.toISOString() } : {}),
      };
      const read = schema.safeParse(said);
      if (!read.success)
        throw new BadRequest(read.error.issues.map((one) => `${one.path.join('.')}: ${one.message}`));
      const label = labelOf(thing, drawing.things, moment, moments.length > 1);
      const found = await readSeries(sql, dataset, source, read.data).catch(noRecord);
      if (typeof found === 'string') {
        lines.push({ label, points: [], exact: [], of: 0, missing: found });
        continue;
      }
      const exact = found.points.map(([at, value]) => [String(at), String(value)] as const);
      const points = exact.map(([at, value]) => [Date.parse(at), drawn(value)] as const);
      const bucket = found.thinned ? (to.getTime() - from.getTime()) / BUCKETS : 0;
      const spacing = spacingOf(thing.time_interval, dataset.every);
      lines.push({ label, points: withGaps(points, spacing, bucket), exact, of: found.of, missing: null });
    }
  return lines;
}

/** There is no record at a moment: that is an answer. */
function noRecord(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === '22023') return error.message;
  throw error;
}

/** The values of a text with commas between them. */
export const valuesOf = (text: string): string[] => [...new Set(text.split(',').map((one) => one.trim()))];

/** Every combination of values. */
const combinations = (things: readonly (readonly [name: string, values: readonly string[]])[]) =>
  things.reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );

/** A number as it is drawn: not exact; null: there is nothing to draw, such as NaN. */
function drawn(value: string): number | null {
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** What tells a line from the others; all of it where there is only one. */
function labelOf(
  thing: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, string>>,
  moment: Date | null,
  several: boolean,
): string {
  const differing = Object.keys(asked).filter((name) => asked[name]?.includes(','));
  const names = differing.length > 0 ? differing : Object.keys(asked);
  const known = moment ? `known at ${moment.toISOString().slice(0, 16).replace('T', ' ')}` : 'known now';
  return [...names.map((name) => thing[name] ?? ''), ...(several || moment ? [known] : [])].join(' ');
}
