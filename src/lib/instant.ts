/** Pattern of a date, or of a date and a time of day, with or without a time zone. */
export const INSTANT_PATTERN =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?) ?([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

/** Inclusive start of the times that databases and files can store (years of four digits), in ms since 1970. */
const MIN_INSTANT_MS = Date.parse('0001-01-01T00:00Z');

/** Exclusive end of the times that databases and files can store, in ms since 1970. */
const END_INSTANT_MS = Date.parse('+010000-01-01T00:00Z');

/** Examples of valid times for error messages. */
export const INSTANT_EXAMPLE = '2026-12-01, 2026-12-01T02:00 (UTC) or 2026-12-01T02:00:00+01:00';

/**
 * Parses a time that a person entered, in ms since 1970. Default time zone: UTC, not the zone of the machine.
 * Default time of day: midnight. Returns null if the text is not a time in the years 1 to 9999, or if the
 * calendar has no such day.
 */
export function parseInstant(text: string): number | null {
  const written = normalizeInstant(text);
  return written === null ? null : Date.parse(written);
}

/** Parses a time as {@link parseInstant}, with the precision of PostgreSQL: in microseconds since 1970. */
export function parseMicroseconds(text: string): bigint | null {
  const written = normalizeInstant(text);
  return written === null ? null : parseRfc3339Microseconds(written);
}

/**
 * Parses a time as {@link parseInstant}, with the microsecond precision of PostgreSQL, and formats it as RFC
 * 3339 in UTC. Use this function for moments that may have been copied from recorded rows. Truncated to ms,
 * such a moment would be before its row.
 */
export function parseExactInstant(text: string): string | null {
  const microseconds = parseMicroseconds(text);
  if (microseconds === null) return null;
  const rest = ((microseconds % 1000n) + 1000n) % 1000n;
  const instant = Number((microseconds - rest) / 1000n);
  if (instant >= END_INSTANT_MS) return null;
  const written = new Date(instant).toISOString();
  if (rest > 0n) return written.replace('Z', `${String(rest).padStart(3, '0')}Z`);
  return written.replace('.000Z', 'Z');
}

/**
 * Normalizes a time that a person entered to RFC 3339. Omitted seconds stay omitted. Returns null in the same
 * cases as {@link parseInstant}.
 */
function normalizeInstant(text: string): string | null {
  const [, date, time = '00:00', zone = 'Z'] = INSTANT_PATTERN.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const midnight = Date.parse(`${date}T00:00Z`);
  // Date.parse reads February 30 as March 2.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(':', '')];
  // PostgreSQL writes an offset of whole hours without minutes.
  const offset = zone.length < 3 ? zone.toUpperCase() : `${hours}:${minutes || '00'}`;
  const written = `${date}T${time}${offset}`;
  const instant = Date.parse(written);
  return instant >= MIN_INSTANT_MS && instant < END_INSTANT_MS ? written : null;
}

const FRACTION = /\.(\d+)(?=Z|[+-])/;
const LEAP_SECOND = /:60(?=[.Z+-])/;

/**
 * Parses an RFC 3339 instant into microseconds since 1970, as PostgreSQL does: a leap second is the first
 * second of the next minute, and fractions below a microsecond are rounded.
 * Returns null if the text is not an instant.
 */
export function parseRfc3339Microseconds(text: string): bigint | null {
  const second = Date.parse(text.replace(FRACTION, '').replace(LEAP_SECOND, ':59'));
  if (Number.isNaN(second)) return null;
  const fraction = roundHalfToEven(Number(`0.${FRACTION.exec(text)?.[1] ?? '0'}`) * 1e6);
  return BigInt(second + (LEAP_SECOND.test(text) ? 1000 : 0)) * 1000n + BigInt(fraction);
}

/** Rounds to the nearest integer, half to even. */
function roundHalfToEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
