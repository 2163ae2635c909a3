import { z } from 'zod';
import { type AlertsConfig, type LimitName, severities } from '../config/alerts-schema.ts';
import { queryAsReader, type ResultColumn } from '../db/query-as-reader.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { parseInstant } from '../lib/instant.ts';
import { defaultRules } from './default-rules.ts';
import { truncate } from './message-texts.ts';
import type { AlertRule, ConfiguredRule, RuleFinding } from './rule.ts';

/** Timeout of a user-defined query, in ms. */
const QUERY_TIMEOUT_MS = 10_000;

/** Maximum number of rows of a user-defined query, which bounds the memory of a round. */
const MAX_ROWS = 2_000;

/** Maximum length of a value, in characters. Values are part of every message. */
const MAX_TEXT_LENGTH = 2_000;

/** Maximum length of a subject, in characters. Subjects are part of every message. */
const MAX_SUBJECT_LENGTH = 500;

/** Settings of a user-defined rule. */
interface CustomRule extends Pick<AlertRule, 'name' | 'severity' | 'for' | 'every'> {
  readonly sql: string;
}

/**
 * Creates a rule from a user-defined query on `reporting`. Each row is an alert. The query runs as
 * `recorder_reader` with a timeout and cannot change anything. For a past moment, the query must name
 * relations without their schema, and the relations must support as-of.
 * @param url URL of the database
 */
function createCustomRule({ sql: query, ...rule }: CustomRule, url: string): AlertRule {
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
      return queryAsReader(url, query, options, async (answer) => {
        const found: RuleFinding[] = [];
        for await (const block of answer.rows('values'))
          for (const line of block) {
            if (found.length === MAX_ROWS)
              throw new Error(`the query returns more than ${MAX_ROWS} rows: group the rows, or add a limit`);
            found.push(foundOf(answer.columns, texts.parse(JSON.parse(line))));
          }
        return found;
      });
    },
  };
}

/**
 * Tests whether a query is valid.
 * @throws UsageError if the query is invalid, or would write
 */
async function testQuery(url: string, query: string, signal: AbortSignal): Promise<void> {
  await queryAsReader(
    url,
    query,
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

/** Default interval of a user-defined rule, in ms. */
const DEFAULT_INTERVAL_MS = 60_000;

/**
 * Returns the enabled rules with the settings of the configuration.
 * @param url URL of the database, for user-defined queries
 */
export function configuredRules(config: AlertsConfig, url: string): ConfiguredRule[] {
  if (!config.enabled) return [];
  const changed = defaultRules.map((rule) => ({
    rule,
    set: config.rules.find(({ name }) => name === rule.name),
  }));
  const own = config.rules.flatMap((set) => {
    if (set.sql === undefined) return [];
    const { name, severity = 'warning', for: forMs = 0, every = DEFAULT_INTERVAL_MS, sql } = set;
    return [{ rule: createCustomRule({ name, severity, for: forMs, every, sql }, url), set }];
  });
  return [...changed, ...own].flatMap(({ rule, set }) =>
    set?.enabled === false ? [] : [configured(rule, set, config.repeatInterval)],
  );
}

function configured(
  rule: AlertRule,
  set: AlertsConfig['rules'][number] | undefined,
  repeatInterval: number,
): ConfiguredRule {
  const number = (name: LimitName) => set?.[name] ?? rule.limits?.[name] ?? 0;
  return {
    ...rule,
    severity: set?.severity ?? rule.severity,
    for: set?.for ?? rule.for,
    every: set?.every ?? rule.every,
    repeatInterval: set?.repeatInterval ?? repeatInterval,
    channels: set?.channels ?? null,
    limits: {
      days: number('days'),
      minutes: number('minutes'),
      threshold: number('threshold'),
      percent: number('percent'),
    },
  };
}

/** A query that could not be tested, and the reason. */
export interface UntestedQuery {
  /** Path in the configuration file. */
  readonly path: string;
  readonly cause: string;
}

/**
 * Tests in the database whether every user-defined query is valid.
 * @returns the queries that could not be tested, because the database was unavailable, too busy or too slow.
 * Later rounds report the errors of these queries
 * @throws UsageError with every invalid query, by its path in the file
 */
export async function testCustomRules(
  config: AlertsConfig,
  url: string,
  signal: AbortSignal,
): Promise<readonly UntestedQuery[]> {
  const problems: string[] = [];
  const untried: UntestedQuery[] = [];
  for (const [at, { sql, enabled }] of config.rules.entries())
    if (sql !== undefined && enabled)
      await testQuery(url, sql, signal).catch((error: unknown) => {
        const path = `alerts.rules[${at}].sql`;
        if (error instanceof UsageError)
          problems.push(`${path}: ${error.message.replaceAll(/^query: /gm, '')}`);
        else untried.push({ path, cause: toErrorMessage(error) });
      });
  if (problems.length > 0) throw new UsageError(problems);
  return untried;
}
