/** What a quantile read out of a histogram may differ from the exact one, relative to it. */
export const RELATIVE_ERROR = 0.05;

export const HIGHEST_ERROR_TEXT = `${RELATIVE_ERROR * 100} %`;

/** Each bucket ends this many times as high as the one below. */
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
/** The end of bucket 0, ms: 256 buckets reach from here to more than a day. */
const LEAST = 0.1;

/** Response times by bucket. Two histograms are merged by adding their counts, at no loss. */
export type Histogram = ReadonlyMap<number, number>;

/** The bucket of a response time in ms, 0 to 255. */
export function bucketOf(milliseconds: number): number {
  const bucket = Math.ceil(Math.log(milliseconds / LEAST) / Math.log(GROWTH) - 1e-9);
  return Math.min(255, Math.max(0, bucket));
}

/** The response time that stands for a bucket, in ms: no value in it is further away than the error. */
export function typicalOf(bucket: number): number {
  return (LEAST * 2 * GROWTH ** bucket) / (GROWTH + 1);
}

/** Where a bucket ends, in ms: every response time in it is at most so long. */
export function endOf(bucket: number): number {
  return LEAST * GROWTH ** bucket;
}

export function merged(histograms: Iterable<Histogram>): Histogram {
  const sum = new Map<number, number>();
  for (const histogram of histograms)
    for (const [bucket, count] of histogram) sum.set(bucket, (sum.get(bucket) ?? 0) + count);
  return sum;
}
