import { z } from 'zod';
import { severities } from '../config/alerts-schema.ts';
import { messageText, messageValue } from '../lib/safe-text.ts';
import { getAdvice } from './advice.ts';
import type { AlertNotice } from './evaluate-rules.ts';
import type { ConfiguredRule } from './rule.ts';
import { type Alert, getSeverityRank } from './state.ts';

const instant = z.string().nullable();

/** Schema of one alert of a message. */
const itemSchema = z.object({
  alert: z.number(),
  subject: z.string(),
  severity: z.enum(severities),
  summary: z.string(),
  since: instant,
  firedAt: instant,
  resolvedAt: instant,
  flapping: z.boolean(),
  details: z.unknown(),
});

/** Schema of a message: alerts of one rule with the same event in one round. Instants are ISO 8601, UTC. */
export const bodySchema = z.object({
  kind: z.enum(['firing', 'resolved', 'reminder', 'acknowledged', 'test']),
  rule: z.string(),
  about: z.string(),
  severity: z.enum(severities),
  at: z.string(),
  recorder: z.string(),
  network: z.string(),
  /** Advice, in at most two sentences. */
  advice: z.string(),
  /** Section of the configured runbook; null if none is configured. */
  runbook: z.string().nullable(),
  items: z.array(itemSchema),
});

export type AlertItem = z.infer<typeof itemSchema>;
export type MessageBody = z.infer<typeof bodySchema>;

/** Message as a channel receives it. */
export interface AlertMessage extends MessageBody {
  /** Idempotency key: equal for each attempt. */
  readonly key: string;
  /** True if the result of an earlier attempt is unknown: the message may have arrived. */
  readonly maybeAgain: boolean;
}

/** Recorder that sends a message. */
export interface Sender {
  readonly recorder: string;
  readonly network: string;
  /** URL of the configured runbook; null if none is configured. */
  readonly runbook: string | null;
}

/** Groups alerts into one body for each rule and kind. */
export function groupIntoBodies(
  notices: readonly AlertNotice[],
  rules: readonly Pick<ConfiguredRule, 'name' | 'about'>[],
  sender: Sender,
  now: Date,
): MessageBody[] {
  const groups = [...new Set(notices.map(keyOf))].map((key) => notices.filter((one) => keyOf(one) === key));
  return groups.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { rule } = first.alert;
    const about = rules.find(({ name }) => name === rule)?.about ?? 'This rule is turned off.';
    return [
      createBody(
        first.kind,
        rule,
        about,
        group.map(({ alert }) => alert),
        sender,
        now,
      ),
    ];
  });
}

const keyOf = ({ alert, kind }: AlertNotice) => `${alert.rule} ${kind}`;

/** Returns the body of a message about alerts of one rule. */
export function createBody(
  kind: MessageBody['kind'],
  rule: string,
  about: string,
  alerts: readonly Alert[],
  { recorder, network, runbook }: Sender,
  now: Date,
): MessageBody {
  const heaviest = alerts
    .map(({ severity }) => severity)
    .toSorted((one, other) => getSeverityRank(other) - getSeverityRank(one))[0];
  return {
    kind,
    rule,
    about,
    severity: heaviest ?? 'info',
    at: now.toISOString(),
    recorder,
    network,
    advice: getAdvice(rule),
    runbook: runbook === null ? null : `${runbook}#${rule}`,
    items: alerts.map((alert) => ({
      alert: alert.id,
      subject: messageText(alert.subject),
      severity: alert.severity,
      summary: messageText(alert.summary),
      since: alert.since?.toISOString() ?? null,
      firedAt: alert.firedAt?.toISOString() ?? null,
      resolvedAt: alert.resolvedAt?.toISOString() ?? null,
      flapping: alert.flapping,
      details: messageValue(alert.details),
    })),
  };
}
