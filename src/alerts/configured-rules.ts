import type { AlertsConfig, LimitName } from '../config/alerts-schema.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { defaultRules } from './default-rules.ts';
import { createCustomRule, testQuery } from './own-rule.ts';
import type { ConfiguredRule, Rule } from './rule.ts';

/** Default interval of a user-defined rule, in ms. */
const DEFAULT_INTERVAL_MS = 60_000;

/**
 * Returns the enabled rules with the settings of the configuration.
 * @param url of the database, for user-defined queries
 */
export function configuredRules(config: AlertsConfig, url: string): ConfiguredRule[] {
  if (!config.enabled) return [];
  const changed = defaultRules.map((rule) => ({
    rule,
    set: config.rules.find(({ name }) => name === rule.name),
  }));
  const own = config.rules.flatMap((set) => {
    if (set.sql === undefined) return [];
    const { name, severity = 'warning', for: held = 0, every = DEFAULT_INTERVAL_MS, sql } = set;
    return [{ rule: createCustomRule({ name, severity, for: held, every, sql }, url), set }];
  });
  return [...changed, ...own].flatMap(({ rule, set }) =>
    set?.enabled === false ? [] : [configured(rule, set, config.repeatInterval)],
  );
}

function configured(
  rule: Rule,
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
 * @returns the queries without a result, because the database was unavailable, too busy or too slow. Later
 * rounds report their errors
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
