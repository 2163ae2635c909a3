import type { ChannelConfig } from '../config/alerts-schema.ts';
import { AbortScope } from '../lib/abort-scope.ts';
import { createRedactor } from '../lib/redaction.ts';
import { describeDeliveryError } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { type AlertChannel, openChannel } from './channel.ts';
import type { AlertContext } from './context.ts';
import { type AlertMessage, createBody } from './message.ts';
import { truncate } from './message-texts.ts';
import { openAlerts } from './open-alerts.ts';
import {
  acquireChannel,
  type ChannelLease,
  findPendingAlerts,
  nextMessage,
  type PendingMessage,
  releaseChannel,
  storeChannelFailure,
  storeChannelSuccess,
  storeRejected,
  storeSent,
} from './outbox.ts';
import { getSeverityRank } from './state.ts';

/** Maximum number of messages in one job. Other jobs run before the next batch. */
const MAX_MESSAGES_PER_JOB = 50;

/** Timeout for sending one message, in ms; shorter than the lease of its channel. */
const SEND_TIMEOUT_MS = 20_000;

/** Result of a delivery. */
export interface DeliveryResult {
  readonly sent: number;
  /** Reason of a failure; null if no message is pending, or another worker holds the lease of the channel. */
  readonly failed: string | null;
  /** True if more messages may be pending. */
  readonly more: boolean;
}

const NOTHING: DeliveryResult = { sent: 0, failed: null, more: false };

/**
 * Sends the pending messages of a channel in order, one at a time. Delivery is at least once: a message with
 * an unknown result is sent again, with a note about the possible repetition.
 */
export async function deliver(
  context: AlertContext,
  name: string,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const { sql, config, secrets, clock, sender, log } = context;
  const settings = config.channels.find((one) => one.name === name);
  if (!settings) return NOTHING;
  const holding = await acquireChannel(sql, sender.recorder, name);
  if (!holding) return NOTHING;
  const redact = createRedactor(secrets.values);
  const channel = await openChannel(settings, secrets);
  let sent = 0;
  while (sent < MAX_MESSAGES_PER_JOB && !signal.aborted) {
    const waiting = await nextMessage(sql, holding, isQuiet(settings.quietHours, clock()));
    if (!waiting) break;
    const failure = await sendOne(context, channel, holding, waiting, redact, signal);
    if (failure !== null) {
      log.warn({ channel: name, cause: failure }, 'a message could not be delivered: it is retried');
      return { sent, failed: failure, more: false };
    }
    sent += 1;
  }
  const failed = signal.aborted ? null : await refreshIfDue(context, channel, holding, redact, signal);
  if (failed === null) await releaseChannel(sql, holding);
  return { sent, failed, more: sent === MAX_MESSAGES_PER_JOB };
}

/**
 * Sends one message.
 * @returns the error if the channel accepts no messages; null if the next message may follow
 */
async function sendOne(
  { sql, log }: AlertContext,
  channel: AlertChannel,
  holding: ChannelLease,
  { id, body, maybeAgain }: PendingMessage,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<string | null> {
  const { recorder, channel: name } = holding;
  const refuse = async (cause: string) => {
    await storeRejected(sql, holding, id, cause);
    log.warn({ channel: name, message: id, cause }, 'a message was dropped: the channel can never accept it');
    return null;
  };
  // An unreadable message must not block later messages.
  if (body === null)
    return refuse(
      'another version of chain-recorder wrote the message in a format that this version cannot read',
    );
  const work = new AbortScope(signal, SEND_TIMEOUT_MS);
  try {
    // A restored database assigns ids again, so that an id alone could be the key of an earlier message.
    const key = `${recorder}/${name}/${id}/${body.at}`;
    await sendDivided(channel, { ...body, key, maybeAgain }, work.signal);
  } catch (error) {
    const errorText = describeDeliveryError(error, redact);
    if (signal.aborted) {
      // The recorder stops, and the message stays marked as possibly delivered.
      await releaseChannel(sql, holding);
      return errorText;
    }
    const failure = error instanceof DeliveryFailure ? error : null;
    if (failure?.kind === 'refused') return refuse(errorText);
    const mayHaveArrived = failure?.mayHaveArrived ?? true;
    await storeChannelFailure(sql, holding, { id, mayHaveArrived }, errorText, failure?.wait ?? null);
    return errorText;
  } finally {
    work.end();
  }
  if (!(await storeSent(sql, holding, id)))
    return 'another worker took over the channel while a message was sent';
  return null;
}

/**
 * Returns true during the quiet hours of a channel.
 * @param now current time, in ms since 1970
 */
function isQuiet(quietHours: ChannelConfig['quietHours'], now: number): boolean {
  if (!quietHours) return false;
  const { from, to, timeZone } = quietHours;
  const time = timeIn(timeZone, now);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

/** Returns the local time of day in a time zone, in ms since midnight. */
function timeIn(timeZone: string, now: number): number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return ((parts.get('hour') ?? 0) * 60 + (parts.get('minute') ?? 0)) * 60_000;
}

/** Maximum length of the summary and description of an alert whose message was too large, in characters. */
const SHORT_TEXT = 300;

/** Maximum length of the subject of an alert whose message was too large, in characters. */
const SHORT_SUBJECT = 100;

/**
 * Sends a message. If the channel rejects the message as too large, sends the alerts in halves, and a single
 * alert with short texts.
 * @throws DeliveryFailure if the channel does not accept a part, or not even a short text
 */
export async function sendDivided(
  channel: AlertChannel,
  message: AlertMessage,
  signal: AbortSignal,
): Promise<void> {
  try {
    await channel.send(message, signal);
  } catch (error) {
    if (!(error instanceof DeliveryFailure && error.kind === 'too-large')) throw error;
    const { key, items } = message;
    const middle = Math.ceil(items.length / 2);
    if (items.length > 1) {
      await sendDivided(channel, { ...message, key: `${key}.1`, items: items.slice(0, middle) }, signal);
      await sendDivided(channel, { ...message, key: `${key}.2`, items: items.slice(middle) }, signal);
      return;
    }
    if (key.endsWith(SHORTENED)) throw new DeliveryFailure('refused', error.message);
    await sendDivided(channel, shortened(message), signal);
  }
}

const SHORTENED = '.short';

function shortened(message: AlertMessage): AlertMessage {
  return {
    ...message,
    key: `${message.key}${SHORTENED}`,
    about: truncate(message.about, SHORT_TEXT),
    items: message.items.map((item) => ({
      ...item,
      subject: truncate(item.subject, SHORT_SUBJECT),
      summary: truncate(item.summary, SHORT_TEXT),
      details: null,
    })),
  };
}

/** Interval at which firing alerts are sent again to channels that expire alerts, in ms. */
const REFRESH_INTERVAL_MS = 60_000;

/**
 * Sends the firing alerts again to a channel that expires alerts, if the interval is over. Alerts with a
 * pending message, for example during quiet hours, are excluded. Alerts whose message was sent before the
 * quiet hours are included, because the channel would resolve them otherwise.
 * @returns the error if the channel did not accept the alerts; null otherwise
 */
async function refreshIfDue(
  context: AlertContext,
  channel: AlertChannel,
  holding: ChannelLease,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<string | null> {
  if (!channel.refresh) return null;
  const { sql, config, rules, sender, clock } = context;
  const { recorder, channel: name, holder } = holding;
  const least = config.channels.find((one) => one.name === name)?.minSeverity ?? 'info';
  const ofChannel = rules.filter(({ channels }) => channels === null || channels.includes(name));
  const pending = await findPendingAlerts(sql, holding);
  const open = (await openAlerts(sql, recorder)).filter(({ id }) => !pending.has(id));
  const firing = ofChannel.flatMap((rule) => {
    const alerts = open.filter(
      (one) =>
        one.rule === rule.name &&
        one.state === 'firing' &&
        getSeverityRank(one.severity) >= getSeverityRank(least),
    );
    if (alerts.length === 0) return [];
    return [createBody('firing', rule.name, rule.about, alerts, sender, new Date(clock()))];
  });
  if (firing.length === 0) return null;
  const rows = await sql`
    update recorder.alert_channels set refreshed_at = clock_timestamp()
    where recorder = ${recorder} and channel = ${name} and holder = ${holder}
      and (refreshed_at is null or abs(extract(epoch from clock_timestamp() - refreshed_at)) * 1000 >= ${REFRESH_INTERVAL_MS - 5_000})
    returning 1`;
  if (rows.length === 0) return null;
  try {
    await channel.refresh(firing, signal);
    await storeChannelSuccess(sql, holding);
    return null;
  } catch (error) {
    // A stop of the recorder is not a failure of the channel.
    if (signal.aborted) return null;
    const errorText = describeDeliveryError(error, redact);
    await storeChannelFailure(sql, holding, null, errorText, null);
    return errorText;
  }
}
