import { z } from 'zod';
import { severities } from '../config/alerts-schema.ts';
import { messageText, messageValue } from '../lib/safe-text.ts';
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
  kind: z.enum(['firing', 'resolved', 'unwatched', 'reminder', 'acknowledged', 'test']),
  rule: z.string(),
  about: z.string(),
  severity: z.enum(severities),
  at: z.string(),
  recorder: z.string(),
  network: z.string(),
  /** Advice, in at most two sentences. */
  advice: z.string(),
  /** URL of the section of the configured runbook; null if no runbook is configured. */
  runbook: z.string().nullable(),
  /** URL of the recorder's page about the alerts; null without `server.publicUrl`. */
  page: z.string().nullable(),
  items: z.array(itemSchema),
});

export type AlertItem = z.infer<typeof itemSchema>;
export type MessageBody = z.infer<typeof bodySchema>;

/** A message in the form in which a channel sends the message. */
export interface AlertMessage extends MessageBody {
  /** Idempotency key, which is equal for each attempt. */
  readonly key: string;
  /** True if the result of an earlier attempt is unknown, so that the message may have arrived already. */
  readonly maybeAgain: boolean;
}

/** Recorder that sends a message. */
export interface Sender {
  readonly recorder: string;
  readonly network: string;
  /** URL of the configured runbook; null if no runbook is configured. */
  readonly runbook: string | null;
  /** URL of the recorder's pages, without a slash at its end; null if no URL is configured. */
  readonly publicUrl: string | null;
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

/** Rules whose subject is a configured node, or a configured node and a tag. */
const RULES_ABOUT_ONE_NODE: readonly string[] = ['node-down', 'node-flapping', 'node-unobserved'];

/**
 * Returns the path of the page of a message: the page of the node if a rule about nodes reports a single
 * node, else the page of all alerts.
 */
function getPagePath(rule: string, alerts: readonly Alert[]): string {
  const nodes = new Set(alerts.map(({ subject }) => subject.split(' ')[0] ?? ''));
  const [node = ''] = nodes;
  return RULES_ABOUT_ONE_NODE.includes(rule) && nodes.size === 1
    ? `/status/${encodeURIComponent(node)}`
    : `/alerts?rule=${encodeURIComponent(rule)}`;
}

/** Returns the body of a message about alerts of one rule. */
export function createBody(
  kind: MessageBody['kind'],
  rule: string,
  about: string,
  alerts: readonly Alert[],
  { recorder, network, runbook, publicUrl }: Sender,
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
    page: publicUrl === null ? null : publicUrl + getPagePath(rule, alerts),
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

/**
 * Advice for an alert of each default rule, at most two lines of a message. docs/how-to/runbook.md contains the whole
 * runbook.
 */
const ADVICE: Readonly<Record<string, string>> = {
  'node-down':
    'Check the process, the machine and the network of the node. If the outage is planned, run: chain-recorder maintenance announce --node NAME --to TIME',
  'node-unobserved':
    'Run "chain-recorder doctor": it reports the status or code with which requests to the node fail. Until then the time counts as unknown.',
  'node-flapping':
    'Check memory, disk and packet loss of the node. reporting_internal.node_states has the times, reporting.node_latency the response times.',
  'source-changed':
    'Compare the node ids and the network at the configured URLs, and correct upstreams.nodes in recorder.yaml. Until then nothing is recorded under the wrong name.',
  'ledger-stalled':
    'Check that a process with the role worker runs: "chain-recorder status". Time without a ledger stays unknown permanently.',
  'recording-stalled': 'Run "chain-recorder doctor": it reports the stalled part, the reason and the fix.',
  'dataset-late':
    'Check the upstream, its key and its budget: "chain-recorder doctor". Missing data that the upstream still offers is fetched automatically.',
  'dataset-incomplete':
    'Check "chain-recorder quarantine", and "chain-recorder status" for methods that the node does not offer.',
  'list-unconfirmed':
    'If the members are really gone, do nothing: the next observations confirm it. If the upstream is wrong, report it to its operator.',
  'quarantine-growing':
    'Run "chain-recorder quarantine list". After an upgrade "chain-recorder quarantine redrive" decodes the items again.',
  'gap-open': 'Run "chain-recorder heal DATASET": it shows why the range cannot be fetched.',
  'gap-permanent':
    'The range cannot be fetched any more. reporting.gaps has the reason: the recorder was off, or the upstream dropped the data.',
  'index-stalled':
    'No action is needed here: items that the index shows late are recorded when they appear. Check the status page of the service.',
  'budget-nearly-spent':
    'Run "chain-recorder plan": it shows which schedules need the most units. Poll them less often or raise the limit.',
  'disk-full': 'Free disk space or move the directory: a full disk stops all recording.',
  'validation-ending':
    'Plan the next validation: the current one cannot be extended. Run: chain-recorder report stake-expiring',
  'reward-at-risk': 'Stabilise the node, and postpone maintenance that can wait.',
  'l1-balance-low':
    'Top up the balance: a validator without balance is inactive. Run: chain-recorder report l1-runway',
  discrepancy:
    'Compare both values: "chain-recorder report discrepancies". Do not rely on the numbers until the cause is known.',
  'series-break':
    'Check whether the service counts differently since that day. Comparisons across the day are unreliable.',
  'export-failing': 'Run "chain-recorder doctor": it tests the target: access, permissions and free space.',
  'replica-behind':
    'Check the load and network of the replica and long statements there. To read the primary, unset REPORTING_DATABASE_URL and restart.',
  'alerting-failing':
    'Run "chain-recorder alerts test CHANNEL" for the channel, or read the error of the rule in "chain-recorder status".',
};

/** Returns the advice for an alert of a rule. For a user-defined rule, the advice is a check of the query. */
export const getAdvice = (rule: string): string =>
  ADVICE[rule] ?? `Check the query of the rule "${rule}" in recorder.yaml.`;
