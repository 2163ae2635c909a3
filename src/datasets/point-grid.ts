import { day, hour, minute } from './sources/durations.ts';

/**
 * A time before the first EVM chain, in ms since 1970. The first EVM chain, the C-chain, has points since
 * 2020-09-21 (upstream-services.md#metrics-service). Each earlier year would require four more calls per
 * metric, because hours are requested in windows of 90 days.
 */
export const BEFORE_FIRST_CHAIN = Date.UTC(2020, 0, 1);
/** Maximum delay of the local clock, in ms. */
const CLOCK_TOLERANCE_MS = 10 * minute;

/** Tests of the start of a bucket, by interval, with descriptions of the start for errors. */
const grids = {
  hour: { starts: 'a full hour', isStart: (moment) => moment.getTime() % hour === 0 },
  day: { starts: '00:00 UTC', isStart: (moment) => moment.getTime() % day === 0 },
  week: {
    starts: '00:00 UTC of a Monday',
    isStart: (moment) => moment.getTime() % day === 0 && moment.getUTCDay() === 1,
  },
  month: {
    starts: '00:00 UTC of the first day of a month',
    isStart: (moment) => moment.getTime() % day === 0 && moment.getUTCDate() === 1,
  },
} satisfies Readonly<Record<string, { readonly starts: string; isStart(moment: Date): boolean }>>;

/** Interval of the points of a series. */
export type PointInterval = keyof typeof grids;

/** Returns whether a text is the name of an interval. */
export const isPointInterval = (text: string): text is PointInterval => Object.hasOwn(grids, text);

/**
 * Returns why a point cannot belong to its series. Returns null if the point is valid.
 * @param start start of the bucket, RFC 3339
 * @param now ms since 1970
 */
export function validatePoint(start: string, interval: PointInterval, now: number): string | null {
  const moment = new Date(start);
  const at = () => `timestamp: ${moment.toISOString()}`;
  if (moment.getTime() > now + CLOCK_TOLERANCE_MS)
    return `${at()} is in the future: no bucket starts after now`;
  if (moment.getTime() < BEFORE_FIRST_CHAIN) return `${at()} is before the first EVM chain`;
  const { isStart, starts } = grids[interval];
  return isStart(moment) ? null : `${at()} is not the start of a ${interval} (${starts})`;
}
