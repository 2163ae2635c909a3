import { endOf, type Grain } from '../../../reporting/relations/chart-sources.ts';
import type { Line } from '../parts/line-chart.tsx';

const HOUR = 3_600_000;
/** The distance between two points of a metric, by its interval, ms. */
const INTERVALS: Readonly<Record<string, number>> = {
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 31 * 24 * HOUR,
};
/** A point may come later than expected by this share of the distance. */
const TOLERANCE = 1.5;

/** The distance of two points that follow each other, ms. @param interval of a metric @param every between two readings, ms */
export const spacingOf = (interval: string | undefined, every: number): number =>
  INTERVALS[interval ?? ''] ?? every;

/**
 * The points with a gap wherever one is missing, so that no line joins what was not recorded.
 * @param spacing how far apart points are where none is missing, ms; readings that are taken more seldom than that, by
 * configuration, count by their median distance
 * @param bucket the width of the parts that were thinned out, ms: what lies within one of them is one place of the drawing
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
 * What is said of whole hours, days, months or years: each ends with it, so that nothing is drawn where nothing was said.
 * @param bucket as for {@link withGaps}
 */
export function withEnds(points: Line['points'], grain: Grain, bucket: number): Line['points'] {
  return points.flatMap((point, place) => {
    const end = endOf(point[0], grain);
    const next = points[place + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    return next > end + bucket ? [point, [end, null] as const] : [point];
  });
}
