import type postgres from 'postgres';
import { toErrorMessage } from '../lib/errors.ts';
import { type ConfiguredRule, MAX_SUBJECTS, type RuleFacts, type RuleFinding } from './rule.ts';
import { isRecordedAt } from './rules/is-recorded-at.ts';

/** Context for evaluating rules. */
export interface EvaluationContext {
  readonly reader: postgres.Sql;
  readonly facts: RuleFacts;
  /** True if the evaluated moment is in the past. */
  readonly past: boolean;
  readonly signal: AbortSignal;
}

/** Result of evaluating a rule, or the error. */
export type EvaluationResult = { readonly found: readonly RuleFinding[] } | { readonly error: string };

/** Evaluates one rule at a moment. Never throws; an error is returned as the result. */
export async function evaluateRule(
  rule: ConfiguredRule,
  at: Date,
  { reader, facts, past, signal }: EvaluationContext,
): Promise<EvaluationResult> {
  try {
    if (rule.needs && !(await isRecordedAt(reader, at, rule.needs))) return { found: [] };
    const found = await rule.evaluate({ sql: reader, at, limits: rule.limits, facts, past, signal });
    return { found: limitSubjects(found.map(validateFinding)) };
  } catch (error) {
    return { error: toErrorMessage(error) };
  }
}

/**
 * Exclusive end of the instants of an alert, in ms since 1970. PostgreSQL accepts no ISO 8601 years of five
 * digits.
 */
const MAX_INSTANT_MS = Date.UTC(9999, 0);

/**
 * Validates a row of a rule, so that invalid values do not break the round of other rules.
 * @throws Error if a row has no subject or summary
 */
function validateFinding(one: RuleFinding): RuleFinding {
  // A column without NOT NULL may be null, whatever the type of the query.
  if (!one.subject || !one.summary)
    throw new Error(
      'the query returns a row without subject or summary: select both columns, and exclude nulls',
    );
  const at = one.since?.getTime();
  return at === undefined || (at > 0 && at < MAX_INSTANT_MS) ? one : { ...one, since: null };
}

/**
 * Limits the number of subjects of a rule. All subjects beyond the limit become one alert. Firing alerts
 * beyond the limit stay open and are not resolved. Unknown subjects do not count towards the limit.
 */
function limitSubjects(found: readonly RuleFinding[]): readonly RuleFinding[] {
  if (found.length <= MAX_SUBJECTS) return found;
  const known = found.filter(({ unknown }) => !unknown);
  const rest = known.slice(MAX_SUBJECTS);
  const more: RuleFinding = {
    subject: 'more',
    summary: `${rest.length} more, which are not listed`,
    since: null,
    details: { subjects: rest.slice(0, MAX_SUBJECTS).map(({ subject }) => subject) },
    unknown: rest.length === 0,
  };
  return [
    ...known.slice(0, MAX_SUBJECTS),
    ...found.filter(({ unknown }) => unknown),
    ...rest.map((one) => ({ ...one, unknown: true })),
    more,
  ];
}
