/** A date, or a date and a time of day, with a zone or without one. */
export const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?) ?([Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** Examples of times, for error messages. */
export const INSTANT_EXAMPLE = '2026-12-01, 2026-12-01T02:00 (UTC) or 2026-12-01T02:00:00+01:00';

/**
 * The time that a person wrote, in ms since 1970: without a zone it is UTC, whatever the machine's zone; without a time of
 * day it is midnight. Null where the text is no such time, or the calendar has no such day.
 */
export function instantIn(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = INSTANT.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const midnight = Date.parse(`${date}T00:00Z`);
  // Date.parse reads February 30 as March 2.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  const instant = Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(instant) ? null : instant;
}
