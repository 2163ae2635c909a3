import { type ChartGrain, endOfGrain } from '../../../reporting/relations/chart-sources.ts';
import type { Line } from '../parts/line-chart.tsx';

const HOUR = 3_600_000;
/** Distance between two points of a metric, by its interval, in ms. */
const INTERVALS: Readonly<Record<string, number>> = {
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 31 * 24 * HOUR,
};
/** Factor by which the distance of two points may exceed the expected one without a gap. */
const TOLERANCE = 1.5;

/**
 * Returns the expected distance of consecutive points, in ms.
 * @param interval of a metric
 * @param every between two readings, in ms
 */
export const spacingOf = (interval: string | undefined, every: number): number =>
  INTERVALS[interval ?? ''] ?? every;

/**
 * Inserts a null wherever points are missing, so that no line crosses a gap.
 * @param spacing expected distance of points, in ms; if the configured interval is longer, the median
 * distance counts
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
 * Ends the value of each hour, day, month or year, so that nothing is drawn where there is no value.
 * @param bucket as for {@link withGaps}
 */
export function withEnds(points: Line['points'], grain: ChartGrain, bucket: number): Line['points'] {
  return points.flatMap((point, place) => {
    const end = endOfGrain(point[0], grain);
    const next = points[place + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    return next > end + bucket ? [point, [end, null] as const] : [point];
  });
}
