import type postgres from 'postgres';
import { messageOf } from '../lib/errors.ts';
import { type ConfiguredRule, type Facts, type Found, MOST_SUBJECTS } from './rule.ts';
import { recordedBy } from './rules/is-recorded-at.ts';

/** Context for evaluating rules. */
export interface AskedWith {
  readonly reader: postgres.Sql;
  readonly facts: Facts;
  /** True if the evaluated moment is in the past. */
  readonly past: boolean;
  readonly signal: AbortSignal;
}

/** Result of evaluating a rule, or the error. */
export type Asked = { readonly found: readonly Found[] } | { readonly error: string };

/** Evaluates one rule at a moment. Never throws: the error is part of the result. */
export async function askRule(
  rule: ConfiguredRule,
  at: Date,
  { reader, facts, past, signal }: AskedWith,
): Promise<Asked> {
  try {
    if (rule.needs && !(await recordedBy(reader, at, rule.needs))) return { found: [] };
    const found = await rule.ask({ sql: reader, at, limits: rule.limits, facts, past, signal });
    return { found: bounded(found.map(sound)) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Latest instant of an alert, in ms since 1970: PostgreSQL accepts no ISO 8601 years of five digits. */
const LATEST = Date.UTC(9999, 0);

/**
 * Validates a row of a rule, so that invalid values do not break the round of other rules.
 * @throws Error if a row has no subject or summary
 */
function sound(one: Found): Found {
  // A column without NOT NULL may be null, whatever the type of the query.
  if (!one.subject || !one.summary) throw new Error('it gives a row without subject or summary');
  const at = one.since?.getTime();
  return at === undefined || (at > 0 && at < LATEST) ? one : { ...one, since: null };
}

/**
 * Limits the number of subjects of a rule: those beyond the limit become one alert.
 * Firing alerts beyond the limit stay open; they are not resolved because others come first. Unknown subjects
 * do not count, however many there are.
 */
function bounded(found: readonly Found[]): readonly Found[] {
  if (found.length <= MOST_SUBJECTS) return found;
  const told = found.filter(({ unknown }) => !unknown);
  const rest = told.slice(MOST_SUBJECTS);
  const more: Found = {
    subject: 'more',
    summary: `${rest.length} more, which are not told one by one`,
    since: null,
    details: { subjects: rest.slice(0, MOST_SUBJECTS).map(({ subject }) => subject) },
    unknown: rest.length === 0,
  };
  return [
    ...told.slice(0, MOST_SUBJECTS),
    ...found.filter(({ unknown }) => unknown),
    ...rest.map((one) => ({ ...one, unknown: true })),
    more,
  ];
}
