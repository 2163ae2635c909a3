import type postgres from 'postgres';
import { messageOf } from '../errors.ts';
import { type ConfiguredRule, type Facts, type Found, MOST_SUBJECTS } from './rule.ts';
import { recordedBy } from './rules/recorded-by.ts';

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
    return { found: found.slice(0, MOST_SUBJECTS) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
