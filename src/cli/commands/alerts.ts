import { acknowledge } from '../../alerts/acknowledge.ts';
import { listAlertRows } from '../../alerts/alert-row.ts';
import { defaultRules } from '../../alerts/default-rules.ts';
import { findRules, replayRules } from '../../alerts/replay.ts';
import type { ConfiguredRule } from '../../alerts/rule.ts';
import { sendTestMessage } from '../../alerts/send-test-message.ts';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import type { AlertsConfig, ChannelConfig } from '../../config/alerts-schema.ts';
import { duration } from '../../config/duration-schema.ts';
import { type AlertResources, openAlertResources } from '../../daemon/alert-work.ts';
import { UsageError } from '../../lib/errors.ts';
import { suggestNames } from '../../lib/nearest-name.ts';
import { printJson, printLine, printNotice, printTable } from '../../lib/print.ts';
import { rejectUnsupportedArguments } from '../actions.ts';
import { parseBoth, parseInstantOption, parseSpan } from '../select-targets.ts';

export interface AlertsOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly rule?: string | undefined;
  readonly every?: string | undefined;
  readonly by?: string | undefined;
  readonly note?: string | undefined;
  readonly json: boolean;
}

const ACTION_ARGUMENTS = {
  word: ['test', 'ack'],
  options: {
    from: ['list', 'replay'],
    to: ['list', 'replay'],
    rule: ['list', 'replay'],
    every: ['replay'],
    by: ['ack'],
    note: ['ack'],
  },
};

const WEEK_MS = 7 * 86_400_000;
const DEFAULT_STEP_MS = 300_000;

/**
 * Command `alerts [list|test CHANNEL|ack ID|replay]`: lists open and past alerts, sends a test message,
 * acknowledges an alert, or replays the rules over past moments.
 * @returns the exit code
 * @throws UsageError if an option is invalid
 */
export async function alertsCommand(
  app: App,
  action: string,
  name: string | undefined,
  options: AlertsOptions,
  signal: AbortSignal,
): Promise<number> {
  rejectUnsupportedArguments('alerts', action, { word: name, options: { ...options } }, ACTION_ARGUMENTS);
  if (action === 'list') return list(app, options);
  const tested = action === 'test' ? channelNamed(app, name) : null;
  const channels = tested ? [tested] : [];
  const alerting = openAlertResources(app, { ...app.config.alerts, channels, heartbeat: undefined });
  try {
    if (tested) return await test(alerting, tested, options, signal);
    if (action === 'ack') return await ack(alerting, name, options);
    return await printReplay(app, alerting, options, signal);
  } finally {
    await alerting.close();
  }
}

async function list(app: App, { from, to, rule, json }: AlertsOptions): Promise<number> {
  const { from: begin, to: end } = parseSpan({ from, to });
  const range = { from: begin ?? app.clock() - WEEK_MS, to: end };
  const rows = await listAlertRows(app.database.reader, app.config.name, { ...range, rule: rule ?? null });
  // Alerts of a rule that was removed stay in the record.
  if (rows.length === 0 && rule !== undefined) rejectUnknownRule(app.config.alerts, rule);
  if (json) printJson(rows);
  else
    printTable(
      rows.map(({ details, began_at, note, ...row }) => row),
      'no open alerts, and none were resolved in this range',
    );
  return exitCode.done;
}

/**
 * Returns the configured channel of a name.
 * @throws UsageError if there is no channel of this name
 */
function channelNamed({ config }: App, name: string | undefined): ChannelConfig {
  const { channels } = config.alerts;
  const channel = channels.find((one) => one.name === name);
  if (channel) return channel;
  const configured =
    channels.length > 0
      ? `configured: ${channels.map((one) => one.name).join(', ')}`
      : 'alerts.channels is empty';
  throw new UsageError([
    name === undefined
      ? `alerts test CHANNEL: name a channel; ${configured}`
      : `alerts test ${name}: there is no such channel; ${configured}`,
  ]);
}

async function test(
  alerting: AlertResources,
  channel: ChannelConfig,
  { json }: AlertsOptions,
  signal: AbortSignal,
): Promise<number> {
  const failure = await sendTestMessage(alerting, channel, signal);
  if (json) printJson({ channel: channel.name, sent: failure === null, error: failure?.message ?? null });
  else if (failure === null) printLine(`a test message was sent to ${channel.name}`);
  else printNotice(`${channel.name} did not accept the test message: ${failure.message}`);
  if (failure === null) return exitCode.done;
  return failure.kind === 'down' ? exitCode.later : exitCode.failed;
}

async function ack(
  alerting: AlertResources,
  id: string | undefined,
  { by, note, json }: AlertsOptions,
): Promise<number> {
  if (id === undefined || !/^\d{1,15}$/.test(id))
    throw new UsageError(['alerts ack ID: ID must be an id from "chain-recorder alerts"']);
  if (!(await acknowledge(alerting, Number(id), { by: by ?? null, note: note ?? null })))
    throw new UsageError([`alerts ack ${id}: no firing, unacknowledged alert has this id`]);
  if (json) printJson({ alert: Number(id), acknowledged: true });
  else printLine(`alert ${id} was acknowledged: no further reminders are sent`);
  return exitCode.done;
}

async function printReplay(
  app: App,
  alerting: AlertResources,
  { from, to, rule, every, json }: AlertsOptions,
  signal: AbortSignal,
): Promise<number> {
  const now = app.clock();
  if (from === undefined) throw new UsageError(['alerts replay: --from is missing']);
  const [[begin, end], step] = parseBoth(
    () =>
      parseBoth(
        () => parseInstantOption('--from', from),
        () => (to === undefined ? now : parseInstantOption('--to', to)),
      ),
    () => (every === undefined ? DEFAULT_STEP_MS : parseStep(every)),
  );
  const range = { from: begin, to: end, step };
  if (range.to > now) throw new UsageError([`--to ${to}: is in the future`]);
  if (range.from >= range.to) throw new UsageError([`--from ${from}: must be before --to`]);
  const rules = selectRules(alerting.rules, rule);
  const { alerts, messages, left, rounds } = await replayRules({ ...alerting, rules }, range, signal);
  const rows = alerts.map(
    ({ rule: of, subject, severity, summary, since, firedAt, resolvedAt, flapping }) => ({
      fired_at: firedAt,
      resolved_at: resolvedAt,
      rule: of,
      subject,
      severity,
      since,
      flapping,
      summary,
    }),
  );
  if (json) printJson({ rounds, messages, alerts: rows, left });
  else {
    printTable(rows, 'no rule would have fired');
    printNotice(`${rounds} rounds, ${alerts.length} alerts, ${messages} messages per channel`);
    for (const one of left) printNotice(`skipped: ${one.rule}: ${one.reason}`);
  }
  return signal.aborted ? exitCode.later : exitCode.done;
}

/**
 * Rejects the name of an unknown rule.
 * @throws UsageError if neither the default rules nor the configuration contains the rule, enabled or not
 */
function rejectUnknownRule({ rules }: AlertsConfig, name: string): void {
  const known = [...new Set([...defaultRules, ...rules].map((rule) => rule.name))];
  if (!known.includes(name))
    throw new UsageError([`--rule ${name}: there is no such rule; ${suggestNames(name, known)}`]);
}

/**
 * Returns the enabled rules of a name. Default: all enabled rules.
 * @throws UsageError if no enabled rule has this name
 */
function selectRules(rules: readonly ConfiguredRule[], name: string | undefined): readonly ConfiguredRule[] {
  const found = findRules(rules, name);
  if (found.length > 0 || name === undefined) return found;
  const there = suggestNames(
    name,
    rules.map((rule) => rule.name),
  );
  throw new UsageError([`--rule ${name}: no enabled rule has this name; ${there}`]);
}

/**
 * Parses the duration of `--every`, in ms.
 * @throws UsageError if the text is not a duration
 */
function parseStep(text: string): number {
  const { data } = duration.safeParse(text);
  if (data === undefined)
    throw new UsageError([`--every ${text}: must be a duration such as 30s or 5m, 5s or more`]);
  return data;
}
