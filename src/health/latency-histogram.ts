/** Maximum relative error of a quantile of a histogram. */
export const RELATIVE_ERROR = 0.05;

export const HIGHEST_ERROR_TEXT = `${RELATIVE_ERROR * 100} %`;

/** Ratio between the upper bounds of adjacent buckets. */
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
/** Upper bound of bucket 0, in ms. 256 buckets reach from here to more than a day. */
const FIRST_BUCKET_END_MS = 0.1;

/** Number of response times by bucket. Histograms are merged without loss by the addition of their counts. */
export type Histogram = ReadonlyMap<number, number>;

/** Returns the bucket of a response time in ms, from 0 to 255. */
export function findBucket(milliseconds: number): number {
  const bucket = Math.ceil(Math.log(milliseconds / FIRST_BUCKET_END_MS) / Math.log(GROWTH) - 1e-9);
  return Math.min(255, Math.max(0, bucket));
}

/**
 * Returns the representative response time of a bucket, in ms. No value in the bucket differs from this time
 * by more than {@link RELATIVE_ERROR}.
 */
export function representativeMs(bucket: number): number {
  return (FIRST_BUCKET_END_MS * 2 * GROWTH ** bucket) / (GROWTH + 1);
}

/** Returns the inclusive upper bound of a bucket, in ms. */
export function bucketEndMs(bucket: number): number {
  return FIRST_BUCKET_END_MS * GROWTH ** bucket;
}

export function mergeHistograms(histograms: Iterable<Histogram>): Histogram {
  const sum = new Map<number, number>();
  for (const histogram of histograms)
    for (const [bucket, count] of histogram) sum.set(bucket, (sum.get(bucket) ?? 0) + count);
  return sum;
}
