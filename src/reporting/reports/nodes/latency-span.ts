import { WEEKS_KEPT } from '../../../health/latency-store.ts';
import type { Span } from './windows.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Returns the shortest range around a range for which response times are available. They are kept per hour;
 * old ones per day.
 * @param now in ms since 1970
 */
export function latencySpan({ from, to }: Span, now: number): Span {
  const unitAt = (at: number) => (at < now - WEEKS_KEPT * 7 * DAY ? DAY : HOUR);
  return {
    from: Math.floor(from / unitAt(from)) * unitAt(from),
    to: Math.ceil(to / unitAt(to)) * unitAt(to),
  };
}
