import { type CoverageDay, NOT_RECORDED_YET } from '../../../../reporting/relations/coverage-days.ts';
import type { TargetDay } from '../../../../reporting/relations/target-coverage.ts';
import { durationWords } from '../../texts.ts';

/** State of a day, for its text and its field. */
export type DayCoverage = TargetDay;

export type DayState = 'covered' | 'partial' | 'gap' | 'none';

/** Converts a day of all targets. */
export const dayOf = ({ day, covered_ms, missing_ms, reasons }: CoverageDay): DayCoverage => ({
  day,
  covered_ms,
  missing_ms,
  fetchable_ms: reasons
    .filter(({ reason }) => reason === NOT_RECORDED_YET)
    .reduce((sum, { missing_ms }) => sum + missing_ms, 0),
});

export const stateOfDay = ({ covered_ms, missing_ms }: DayCoverage): DayState => {
  if (missing_ms === 0) return covered_ms === 0 ? 'none' : 'covered';
  return covered_ms === 0 ? 'gap' : 'partial';
};

/** Describes a day: `2026-11-01: partial, 3 h missing`. */
export function dayWords(day: DayCoverage): string {
  const state = stateOfDay(day);
  if (state === 'none') return `${day.day}: no record`;
  const missing = day.missing_ms > 0 ? `, ${missingText(day)}` : '';
  return `${day.day}: ${state}${missing}`;
}

/** Describes the missing part of a day, and whether it can still be fetched. */
export function missingText({ missing_ms, fetchable_ms }: DayCoverage): string {
  const [all, part] = [durationWords(missing_ms / 1000), durationWords(fetchable_ms / 1000)];
  if (fetchable_ms === 0) return `${all} missing for good`;
  return fetchable_ms < missing_ms
    ? `${all} missing, ${part} of it can still be fetched`
    : `${all} missing, can still be fetched`;
}

/** Summarizes several days: `80 covered, 3 partial, 1 gap`. */
export function daysWords(days: readonly DayCoverage[]): string {
  const states = days.map(stateOfDay);
  const parts = (['covered', 'partial', 'gap', 'none'] as const).flatMap((state) => {
    const count = states.filter((one) => one === state).length;
    return count === 0 ? [] : [`${count} ${state === 'none' ? 'without a record' : state}`];
  });
  return parts.join(', ');
}

/**
 * Returns all days of a range, including those without a record.
 * @param from ISO 8601, inclusive
 * @param to ISO 8601, exclusive
 */
export function allDays(days: readonly DayCoverage[], from: string, to: string): DayCoverage[] {
  const known = new Map(days.map((one) => [one.day, one]));
  const count = Math.ceil((Date.parse(to) - Date.parse(from)) / 86_400_000);
  return Array.from({ length: Math.max(count, 0) }, (_, at) => {
    const day = new Date(Date.parse(from) + at * 86_400_000).toISOString().slice(0, 10);
    return known.get(day) ?? { day, covered_ms: 0, missing_ms: 0, fetchable_ms: 0 };
  });
}
