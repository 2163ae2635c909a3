import { z } from 'zod';
import { severities } from '../config/alerts-schema.ts';
import { queryAsReader, type ResultColumn } from '../db/question.ts';
import { parseInstant } from '../lib/instant.ts';
import { truncate } from './message-texts.ts';
import { MAX_SUBJECTS, type Rule, type RuleFinding } from './rule.ts';

/** Timeout of a user-defined query, in ms. */
const QUERY_TIMEOUT_MS = 10_000;

/** Maximum length of a value and of a subject, in characters: each is part of every message. */
const MAX_TEXT_LENGTH = 2_000;
const MAX_SUBJECT_LENGTH = 500;

/** Settings of a user-defined rule. */
export interface CustomRule extends Pick<Rule, 'name' | 'severity' | 'for' | 'every'> {
  readonly sql: string;
}

/**
 * Creates a rule from a user-defined query on `reporting`. Each row is an alert.
 * The query runs as `recorder_reader` with a timeout and cannot change anything. For a past moment, it can
 * only use names without a schema that support as-of.
 * @param url of the database
 */
export function createCustomRule({ sql: question, ...rule }: CustomRule, url: string): Rule {
  return {
    ...rule,
    about: 'A query of your own gives rows.',
    evaluate: async ({ at, past, signal }) => {
      const options = {
        timeout: QUERY_TIMEOUT_MS,
        asOf: past ? at.toISOString() : null,
        signal,
        beside: true,
      };
      return queryAsReader(url, question, options, async (answer) => {
        const found: RuleFinding[] = [];
        for await (const block of answer.rows('values'))
          for (const line of block) {
            if (found.length === MAX_SUBJECTS)
              throw new Error(`it gives more than ${MAX_SUBJECTS} rows: group them, or add a limit`);
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
export async function testQuery(url: string, question: string, signal: AbortSignal): Promise<void> {
  await queryAsReader(
    url,
    question,
    { timeout: QUERY_TIMEOUT_MS, asOf: null, signal, beside: true },
    async () => {},
  );
}

/** Schema of a row: the exact texts of its values, in the order of the columns. */
const texts = z.array(z.string().nullable());

function foundOf(columns: readonly ResultColumn[], values: readonly (string | null)[]): RuleFinding {
  const row = Object.fromEntries(
    columns.map(({ name }, at) => {
      const value = values[at];
      return [name, value == null ? null : truncate(value, MAX_TEXT_LENGTH)];
    }),
  );
  const since = row.since == null ? Number.NaN : (parseInstant(row.since) ?? Date.parse(row.since));
  return {
    subject: truncate(row.subject ?? values[0] ?? '(nothing)', MAX_SUBJECT_LENGTH),
    severity: severities.find((one) => one === row.severity),
    summary: truncate(row.summary ?? inWords(row), MAX_TEXT_LENGTH),
    since: Number.isNaN(since) ? null : new Date(since),
    details: row,
  };
}

const inWords = (row: Readonly<Record<string, string | null>>) =>
  Object.entries(row)
    .map(([name, value]) => `${name} ${value ?? '–'}`)
    .join(', ');
