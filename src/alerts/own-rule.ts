import { z } from 'zod';
import { severities } from '../config/alerts-schema.ts';
import { type AnswerColumn, askAsReader } from '../db/question.ts';
import { instantIn } from '../lib/instant.ts';
import { cut } from './message-texts.ts';
import { type Found, MOST_SUBJECTS, type Rule } from './rule.ts';

/** How long a query of one's own may take, ms. */
const TIMEOUT = 10_000;

/** The most characters that are kept of a value: each goes into every message. */
const LONGEST_TEXT = 2_000;
const LONGEST_SUBJECT = 500;

/** What a rule of one's own is made of. */
export interface OwnRule extends Pick<Rule, 'name' | 'severity' | 'for' | 'every'> {
  readonly sql: string;
}

/**
 * A rule that is a query of the user's on `reporting`. Each row is an alert. It is asked as `recorder_reader`, with a limit of
 * time, and can change nothing. About a past moment only names without a schema that have an as-of can be asked.
 * @param url the database
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

/** Asks whether a query can be asked at all. @throws UsageError when it is wrong, or would write */
export async function tryQuestion(url: string, question: string, signal: AbortSignal): Promise<void> {
  await askAsReader(url, question, { timeout: TIMEOUT, asOf: null, signal, beside: true }, async () => {});
}

/** A row: the texts of its values, exact, in the order of the columns. */
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
