import type { AlertsConfig, LimitName } from '../config/alerts-schema.ts';
import { messageOf, UsageError } from '../lib/errors.ts';
import { defaultRules } from './default-rules.ts';
import { ownRule, tryQuestion } from './own-rule.ts';
import type { ConfiguredRule, Rule } from './rule.ts';

/** How often a query of one's own is asked where the configuration does not say, ms. */
const OWN_EVERY = 60_000;

/** The rules that are on, as the configuration has them. @param url the database, for queries of one's own */
export function configuredRules(config: AlertsConfig, url: string): ConfiguredRule[] {
  if (!config.enabled) return [];
  const changed = defaultRules.map((rule) => ({
    rule,
    set: config.rules.find(({ name }) => name === rule.name),
  }));
  const own = config.rules.flatMap((set) => {
    if (set.sql === undefined) return [];
    const { name, severity = 'warning', for: held = 0, every = OWN_EVERY, sql } = set;
    return [{ rule: ownRule({ name, severity, for: held, every, sql }, url), set }];
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

/** A query that could not be tried, and why. */
export interface Untried {
  /** Its path in the file. */
  readonly path: string;
  readonly cause: string;
}

/**
 * Asks the database whether every query of one's own can be asked.
 * @returns those of which it said neither: it was away, too busy, or too slow. Their rounds will tell what is wrong
 * @throws UsageError each that cannot be asked, by its path in the file
 */
export async function tryOwnRules(
  config: AlertsConfig,
  url: string,
  signal: AbortSignal,
): Promise<readonly Untried[]> {
  const problems: string[] = [];
  const untried: Untried[] = [];
  for (const [at, { sql, enabled }] of config.rules.entries())
    if (sql !== undefined && enabled)
      await tryQuestion(url, sql, signal).catch((error: unknown) => {
        const path = `alerts.rules[${at}].sql`;
        if (error instanceof UsageError)
          problems.push(`${path}: ${error.message.replaceAll(/^query: /gm, '')}`);
        else untried.push({ path, cause: messageOf(error) });
      });
  if (problems.length > 0) throw new UsageError(problems);
  return untried;
}
