import { dayNumber } from './calendar.ts';

/** A date, or a date and a time of day, with a zone or without one. */
export const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?) ?([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

/** The times that databases and files can have: of years of four digits, ms since 1970. */
const FIRST = Date.parse('0001-01-01T00:00Z');
const END = Date.parse('+010000-01-01T00:00Z');

/** Examples of times, for error messages. */
export const INSTANT_EXAMPLE = '2026-12-01, 2026-12-01T02:00 (UTC) or 2026-12-01T02:00:00+01:00';

/**
 * The time that a person wrote, in ms since 1970: without a zone it is UTC, whatever the machine's zone; without a time of
 * day it is midnight. Null where the text is no such time, or the calendar has no such day; its years are 1 to 9999.
 */
export function instantIn(text: string): number | null {
  const written = inOneForm(text);
  return written === null ? null : Date.parse(written);
}

/** As {@link instantIn}, as exact as PostgreSQL reads the text: in microseconds since 1970. */
export function microsecondsIn(text: string): number | bigint | null {
  const written = inOneForm(text);
  return written === null ? null : microsecondsOf(written);
}

/**
 * As {@link instantIn}, as exact as PostgreSQL reads the text, which is to the microsecond: in the form of RFC 3339, in UTC. What takes
 * a moment that may have been copied out of the record takes it so: cut to the millisecond it would lie before what it was copied of.
 */
export function exactInstantIn(text: string): string | null {
  const read = microsecondsIn(text);
  if (read === null) return null;
  const microseconds = BigInt(read);
  const rest = ((microseconds % 1000n) + 1000n) % 1000n;
  const instant = Number((microseconds - rest) / 1000n);
  if (instant >= END) return null;
  const written = new Date(instant).toISOString();
  if (rest > 0n) return written.replace('Z', `${String(rest).padStart(3, '0')}Z`);
  return written.replace('.000Z', 'Z');
}

/** The time that a person wrote in the form of RFC 3339, seconds left out where they were; null as {@link instantIn}. */
function inOneForm(text: string): string | null {
  const [, date, time = '00:00', zone = 'Z'] = INSTANT.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const midnight = Date.parse(`${date}T00:00Z`);
  // Date.parse reads February 30 as March 2.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(':', '')];
  // PostgreSQL writes an offset of whole hours without minutes.
  const offset = zone.length < 3 ? zone.toUpperCase() : `${hours}:${minutes || '00'}`;
  const written = `${date}T${time}${offset}`;
  const instant = Date.parse(written);
  return instant >= FIRST && instant < END ? written : null;
}

const FRACTION = /\.(\d+)(?=Z|[+-])/;
const LEAP_SECOND = /:60(?=[.Z+-])/;

/**
 * An instant as RFC 3339 writes it, in microseconds since 1970, as PostgreSQL reads it: a leap second is the first one of the next
 * minute, and what is finer than a microsecond is rounded. A bigint where it is beyond the whole numbers of JavaScript. Null: no instant.
 */
export function microsecondsOf(text: string): number | bigint | null {
  const plain = ofPlain(text);
  if (Number.isSafeInteger(plain)) return plain;
  const second = Date.parse(text.replace(FRACTION, '').replace(LEAP_SECOND, ':59'));
  if (Number.isNaN(second)) return null;
  const fraction = toEven(Number(`0.${FRACTION.exec(text)?.[1] ?? '0'}`) * 1e6);
  const all = BigInt(second + (LEAP_SECOND.test(text) ? 1000 : 0)) * 1000n + BigInt(fraction);
  return Number.isSafeInteger(Number(all)) ? Number(all) : all;
}

/** As {@link microsecondsOf}, of the form that `Date.prototype.toISOString` has, at a tenth of its cost; NaN for others. */
function ofPlain(text: string): number {
  if (text.length !== 24 || text.charCodeAt(23) !== 0x5a || text.charCodeAt(19) !== 0x2e) return Number.NaN;
  const days = dayNumber(number(text, 0, 4), number(text, 5, 7), number(text, 8, 10));
  const hours = days * 24 + number(text, 11, 13);
  const seconds = (hours * 60 + number(text, 14, 16)) * 60 + number(text, 17, 19);
  return (seconds * 1000 + number(text, 20, 23)) * 1000;
}

/** The number that digits of a text are; NaN where one of them is none. */
function number(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

/** The nearest whole number; the even one of two. */
function toEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
