import { z } from 'zod';
import { severities } from '../config/alerts-schema.ts';
import { type AnswerColumn, askAsReader } from '../db/question.ts';
import { instantIn } from '../lib/instant.ts';
import { cut } from './message-texts.ts';
import { type Found, MOST_SUBJECTS, type Rule } from './rule.ts';

/** Timeout of a user-defined query, in ms. */
const TIMEOUT = 10_000;

/** Maximum length of a value and of a subject, in characters: each is part of every message. */
const LONGEST_TEXT = 2_000;
const LONGEST_SUBJECT = 500;

/** Settings of a user-defined rule. */
export interface OwnRule extends Pick<Rule, 'name' | 'severity' | 'for' | 'every'> {
  readonly sql: string;
}

/**
 * Creates a rule from a user-defined query on `reporting`. Each row is an alert.
 * The query runs as `recorder_reader` with a timeout and cannot change anything. For a past moment, it can
 * only use names without a schema that support as-of.
 * @param url of the database
 */
export function ownRule({ sql: question, ...rule }: OwnRule, url: string): Rule {
  return {
    ...rule,
    about: 'A query of your own gives rows.',
    ask: async ({ at, past, signal }) => {
      const options = { timeout: TIMEOUT, asOf: past ? at.toISOString() : null, signal, beside: true };
      return askAsReader(url, question, options, async (answer) => {
        const found: Found[] = [];
        for await (const block of answer.rows('values'))
          for (const line of block) {
            if (found.length === MOST_SUBJECTS)
              throw new Error(`it gives more than ${MOST_SUBJECTS} rows: group them, or add a limit`);
            found.push(foundOf(answer.columns, texts.parse(JSON.parse(line))));
          }
        return found;
      });
    },
  };
}

/**
 * Tests whether a query is valid.
 * @throws UsageError if it is invalid, or would write
 */
export async function tryQuestion(url: string, question: string, signal: AbortSignal): Promise<void> {
  await askAsReader(url, question, { timeout: TIMEOUT, asOf: null, signal, beside: true }, async () => {});
}

/** Schema of a row: the exact texts of its values, in the order of the columns. */
const texts = z.array(z.string().nullable());

function foundOf(columns: readonly AnswerColumn[], values: readonly (string | null)[]): Found {
  const row = Object.fromEntries(
    columns.map(({ name }, at) => {
      const value = values[at];
      return [name, value == null ? null : cut(value, LONGEST_TEXT)];
    }),
  );
  const since = row.since == null ? Number.NaN : (instantIn(row.since) ?? Date.parse(row.since));
  return {
    subject: cut(row.subject ?? values[0] ?? '(nothing)', LONGEST_SUBJECT),
    severity: severities.find((one) => one === row.severity),
    summary: cut(row.summary ?? inWords(row), LONGEST_TEXT),
    since: Number.isNaN(since) ? null : new Date(since),
    details: row,
  };
}

const inWords = (row: Readonly<Record<string, string | null>>) =>
  Object.entries(row)
    .map(([name, value]) => `${name} ${value ?? '–'}`)
    .join(', ');
