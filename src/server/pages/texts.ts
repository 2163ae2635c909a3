import { parseExactInstant } from '../../lib/instant.ts';

const SECOND = 1_000;
const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/**
 * Formats a number exactly, with thin spaces between thousands: 1234567 → `1 234 567`.
 * @param value a number, or its decimal text
 */
export function numberText(value: number | string | bigint): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * Formats a duration in its largest unit, and also in the next unit if the first number is less than 10:
 * 93784 → `1 day 2 h`.
 * @param seconds duration in s, not negative
 */
export function durationWords(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    if (count === 0 && parts.length === 0 && unit !== 's') continue;
    if (parts.length === 1 && count === 0) break;
    parts.push(
      `${count} ${unit}${(count > 1 && unit.length > 3) || (count > 1 && unit === 'day') ? 's' : ''}`,
    );
    rest -= count * length;
    if (parts.length === 2 || count >= 10) break;
  }
  return parts.join(' ');
}

/**
 * Formats a moment relative to now: `3 min ago`, `in 2 h`, `now`.
 * @param at ms since 1970
 * @param now ms since 1970
 */
export function agoText(at: number, now: number): string {
  const seconds = Math.round((now - at) / SECOND);
  if (Math.abs(seconds) < 2) return 'now';
  const [span = ''] = /^\S+ \S+/.exec(durationWords(Math.abs(seconds))) ?? [];
  return seconds > 0 ? `${span} ago` : `in ${span}`;
}

/** Formats a moment in UTC: `2026-11-22 03:53:12`. */
export const momentText = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

/**
 * Formats a moment for a text field of a form, in UTC with microseconds, so that the form sends exactly the
 * same moment. Returns an empty text if the moment is invalid.
 */
export const fieldMoment = (text: string): string =>
  (parseExactInstant(text) ?? '').replace(/(T\d\d:\d\d):00Z$|Z$/, '$1').replace('T', ' ');

/** Formats bytes in a suitable unit: 1536 → `1.5 kB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/**
 * Formats a count with its noun: (1, 'target') → `1 target`.
 * @param several plural. Default: the singular with an s
 */
export const countText = (count: number, one: string, several = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : several}`;
