import type { ChannelConfig } from '../config/alerts-schema.ts';
import { AbortScope } from '../lib/abort-scope.ts';
import { createRedactor } from '../lib/redaction.ts';
import { describeDeliveryError } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { type AlertChannel, openChannel } from './channel.ts';
import type { AlertContext } from './context.ts';
import {
  acquireChannel,
  type ChannelLease,
  nextMessage,
  type PendingMessage,
  releaseChannel,
  storeChannelFailure,
  storeRejected,
  storeSent,
} from './outbox.ts';
import { refreshIfDue } from './refresh.ts';
import { sendDivided } from './send-divided.ts';

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
 * an unknown result is sent again with a note that it may be a repetition.
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
      log.warn({ channel: name, cause: failure }, 'a channel did not take a message: it is tried again');
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
 * @returns the error if the channel accepts no messages; null if the next one may follow
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
    log.warn({ channel: name, message: id, cause }, 'a message cannot be sent: it is left out');
    return null;
  };
  // An unreadable message must not block those after it.
  if (body === null) return refuse('it was written by another version, in a form that this one cannot read');
  const work = new AbortScope(signal, SEND_TIMEOUT_MS);
  try {
    await sendDivided(channel, { ...body, key: `${recorder}/${name}/${id}`, maybeAgain }, work.signal);
  } catch (error) {
    const said = describeDeliveryError(error, redact);
    if (signal.aborted) {
      // The recorder stops: the message stays marked as possibly delivered.
      await releaseChannel(sql, holding);
      return said;
    }
    const failure = error instanceof DeliveryFailure ? error : null;
    if (failure?.kind === 'refused') return refuse(said);
    const mayHaveArrived = failure?.mayHaveArrived ?? true;
    await storeChannelFailure(sql, holding, { id, mayHaveArrived }, said, failure?.wait ?? null);
    return said;
  } finally {
    work.end();
  }
  if (!(await storeSent(sql, holding, id)))
    return 'the channel went to another worker while a message was sent';
  return null;
}

/**
 * Returns true during the quiet hours of a channel.
 * @param now in ms since 1970
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
