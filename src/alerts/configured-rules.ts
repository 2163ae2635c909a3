import type { AlertsConfig, LimitName } from '../config/alerts-schema.ts';
import { UsageError } from '../errors.ts';
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
    set?.enabled === false ? [] : [configured(rule, set, config.remind)],
  );
}

function configured(
  rule: Rule,
  set: AlertsConfig['rules'][number] | undefined,
  remind: number,
): ConfiguredRule {
  const number = (name: LimitName) => set?.[name] ?? rule.limits?.[name] ?? 0;
  return {
    ...rule,
    severity: set?.severity ?? rule.severity,
    for: set?.for ?? rule.for,
    every: set?.every ?? rule.every,
    remind: set?.remind ?? remind,
    channels: set?.channels ?? null,
    limits: {
      days: number('days'),
      minutes: number('minutes'),
      times: number('times'),
      percent: number('percent'),
    },
  };
}

/**
 * Asks the database whether every query of one's own can be asked.
 * @throws UsageError each that cannot be, by its path in the file
 */
export async function tryOwnRules(config: AlertsConfig, url: string, signal: AbortSignal): Promise<void> {
  const problems: string[] = [];
  for (const [at, { sql, enabled }] of config.rules.entries())
    if (sql !== undefined && enabled)
      await tryQuestion(url, sql, signal).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
        problems.push(`alerts.rules[${at}].sql: ${error.message.replaceAll(/^query: /gm, '')}`);
      });
  if (problems.length > 0) throw new UsageError(problems);
}
