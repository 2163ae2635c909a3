import type postgres from 'postgres';
import { messageOf } from '../lib/errors.ts';
import { type ConfiguredRule, type Facts, type Found, MOST_SUBJECTS } from './rule.ts';
import { recordedBy } from './rules/is-recorded-at.ts';

/** What rules are asked with. */
export interface AskedWith {
  readonly reader: postgres.Sql;
  readonly facts: Facts;
  /** The moment that is asked about is a past one. */
  readonly past: boolean;
  readonly signal: AbortSignal;
}

/** What a rule said; or why it could not be asked. */
export type Asked = { readonly found: readonly Found[] } | { readonly error: string };

/** Asks one rule about a moment. It throws nothing: a rule that fails is told. */
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

/** The latest instant that an alert can name, ms: PostgreSQL reads no years of five digits. */
const LATEST = Date.UTC(9999, 0);

/** What rows may hold beyond their types must not cost the other rules their round. @throws Error when a row is about nothing */
function sound(one: Found): Found {
  // A column without NOT NULL may be null whatever a query's type says.
  if (!one.subject || !one.summary) throw new Error('it gives a row without subject or summary');
  const at = one.since?.getTime();
  return at === undefined || (at > 0 && at < LATEST) ? one : { ...one, since: null };
}

/**
 * What is too much to be told one by one is told as one. Of the rest what fires goes on: it is not over because others come
 * before it. What the record does not tell of is nothing to tell, however much it is.
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
