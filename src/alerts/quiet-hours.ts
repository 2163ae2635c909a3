import type { ChannelConfig } from '../config/alerts-schema.ts';

/**
 * Returns true during the quiet hours of a channel.
 * @param now in ms since 1970
 */
export function isQuiet(quietHours: ChannelConfig['quietHours'], now: number): boolean {
  if (!quietHours) return false;
  const { from, to, timeZone } = quietHours;
  const time = timeIn(timeZone, now);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

/** Returns the local time of day in a time zone, in ms since midnight. */
function timeIn(timeZone: string, now: number): number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return ((parts.get('hour') ?? 0) * 60 + (parts.get('minute') ?? 0)) * 60_000;
}
