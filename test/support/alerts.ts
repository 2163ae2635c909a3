import { type Logger, pino } from 'pino';
import postgres from 'postgres';
import { configuredRules } from '../../src/alerts/configured-rules.ts';
import type { AlertContext } from '../../src/alerts/context.ts';
import { defaultRules, ruleLimits } from '../../src/alerts/default-rules.ts';
import type { ConfiguredRule, RuleFacts, RuleFinding } from '../../src/alerts/rule.ts';
import { type AlertsConfig, alertsSchema } from '../../src/config/alerts-schema.ts';
import { collectTexts, readReferencedSecrets } from '../../src/config/named-secrets.ts';
import type { ManualClock } from './clock.ts';

/** A configuration of alerts, validated like the file. */
export const alertsConfig = (value: unknown): AlertsConfig => alertsSchema(ruleLimits).parse(value);

/** Defaults of the rules' context. */
export const noFacts: RuleFacts = {
  recorder: 'recorder',
  nodes: ['n1', 'n2', 'n3'],
  nodeIds: [],
  rewards: { minUptime: 80, minUptimeAfterUpgrade: 90 },
  budgets: [],
  disk: async () => ({ database: 0, largest: [], perDay: null, free: null }),
};

/** The parts of alerts in a test. */
export interface TestAlerts extends AlertContext {
  /** Log entries, as lines. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}

/** Opens alerts on a test's database. @param rules Default: those of the configuration */
export function testAlerts(
  url: string,
  clock: ManualClock,
  config: unknown,
  more: {
    readonly rules?: readonly ConfiguredRule[];
    readonly env?: NodeJS.ProcessEnv;
    readonly facts?: Partial<RuleFacts>;
    /** Name of its sessions. */
    readonly session?: string;
  } = {},
): TestAlerts {
  const checked = alertsConfig(config);
  const sql = postgres(url, {
    max: 4,
    onnotice: () => {},
    connection: { application_name: more.session ?? 'test' },
  });
  const lines: string[] = [];
  const log: Logger = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  return {
    sql,
    reader: sql,
    clock: clock.read,
    log,
    lines,
    config: checked,
    rules: more.rules ?? configuredRules(checked, url),
    sender: { recorder: 'recorder', network: 'mainnet', runbook: checked.runbook ?? null, publicUrl: null },
    facts: { ...noFacts, ...more.facts },
    secrets: readReferencedSecrets(collectTexts([checked.channels, checked.heartbeat ?? '']), more.env ?? {}),
    close: () => sql.end(),
  };
}

/** A rule whose result a test sets. */
export interface ScriptedRule extends ConfiguredRule {
  /** The next result; an error: its query fails. */
  result: readonly (RuleFinding | string)[] | Error;
}

/** Creates a rule whose results the test sets. A text is a subject. */
export function scriptedRule(more: Partial<ConfiguredRule> = {}): ScriptedRule {
  const rule: ScriptedRule = {
    name: 'scripted',
    about: 'A test set it.',
    severity: 'warning',
    for: 0,
    every: 30_000,
    repeatInterval: 86_400_000,
    channels: null,
    limits: { days: 0, minutes: 0, threshold: 0, percent: 0 },
    ...more,
    result: [],
    evaluate: async () => {
      if (rule.result instanceof Error) throw rule.result;
      return rule.result.map((one) =>
        typeof one === 'string' ? { subject: one, summary: `${one} is ill`, since: null } : one,
      );
    },
  };
  return rule;
}

/** Returns a default rule by its name, with its own limits. */
export function findRule(name: string): ConfiguredRule {
  const rule = defaultRules.find((one) => one.name === name);
  if (!rule) throw new Error(`no rule ${name}`);
  return {
    ...rule,
    repeatInterval: 86_400_000,
    channels: null,
    limits: { days: 0, minutes: 0, threshold: 0, percent: 0, ...rule.limits },
  };
}
