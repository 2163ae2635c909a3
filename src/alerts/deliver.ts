import { WorkSignal } from '../lib/abort-scope.ts';
import { redactor } from '../lib/redaction.ts';
import { causeOf } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { type Channel, openChannel } from './channel.ts';
import type { AlertContext } from './context.ts';
import {
  type Holding,
  holdChannel,
  nextMessage,
  noteFailed,
  noteRefused,
  noteSent,
  releaseChannel,
  type Waiting,
} from './outbox.ts';
import { isQuiet } from './quiet-hours.ts';
import { refreshDue } from './refresh.ts';
import { sendDivided } from './send-divided.ts';

/** Maximum number of messages in one job. Other jobs run before the next batch. */
const AT_ONCE = 50;

/** Timeout for sending one message, in ms; shorter than the lease of its channel. */
const LONGEST_SEND = 20_000;

/** Result of a delivery. */
export interface Delivered {
  readonly sent: number;
  /** Reason of a failure; null if no message is pending, or another worker holds the lease of the channel. */
  readonly failed: string | null;
  /** True if more messages may be pending. */
  readonly more: boolean;
}

const NOTHING: Delivered = { sent: 0, failed: null, more: false };

/**
 * Sends the pending messages of a channel in order, one at a time. Delivery is at least once: a message with
 * an unknown result is sent again with a note that it may be a repetition.
 */
export async function deliver(context: AlertContext, name: string, signal: AbortSignal): Promise<Delivered> {
  const { sql, config, secrets, clock, sender, log } = context;
  const settings = config.channels.find((one) => one.name === name);
  if (!settings) return NOTHING;
  const holding = await holdChannel(sql, sender.recorder, name);
  if (!holding) return NOTHING;
  const redact = redactor(secrets.values);
  const channel = await openChannel(settings, secrets);
  let sent = 0;
  while (sent < AT_ONCE && !signal.aborted) {
    const waiting = await nextMessage(sql, holding, isQuiet(settings.quiet, clock()));
    if (!waiting) break;
    const failure = await sendOne(context, channel, holding, waiting, redact, signal);
    if (failure !== null) {
      log.warn({ channel: name, cause: failure }, 'a channel did not take a message: it is tried again');
      return { sent, failed: failure, more: false };
    }
    sent += 1;
  }
  const failed = signal.aborted ? null : await refreshDue(context, channel, holding, redact, signal);
  if (failed === null) await releaseChannel(sql, holding);
  return { sent, failed, more: sent === AT_ONCE };
}

/**
 * Sends one message.
 * @returns the error if the channel accepts no messages; null if the next one may follow
 */
async function sendOne(
  { sql, log }: AlertContext,
  channel: Channel,
  holding: Holding,
  { id, body, maybeAgain }: Waiting,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<string | null> {
  const { recorder, channel: name } = holding;
  const refuse = async (cause: string) => {
    await noteRefused(sql, holding, id, cause);
    log.warn({ channel: name, message: id, cause }, 'a message cannot be sent: it is left out');
    return null;
  };
  // An unreadable message must not block those after it.
  if (body === null) return refuse('it was written by another version, in a form that this one cannot read');
  const work = new WorkSignal(signal, LONGEST_SEND);
  try {
    await sendDivided(channel, { ...body, key: `${recorder}/${name}/${id}`, maybeAgain }, work.signal);
  } catch (error) {
    const said = causeOf(error, redact);
    if (signal.aborted) {
      // The recorder stops: the message stays marked as possibly delivered.
      await releaseChannel(sql, holding);
      return said;
    }
    const failure = error instanceof DeliveryFailure ? error : null;
    if (failure?.kind === 'refused') return refuse(said);
    const mayHaveArrived = failure?.mayHaveArrived ?? true;
    await noteFailed(sql, holding, { id, mayHaveArrived }, said, failure?.wait ?? null);
    return said;
  } finally {
    work.end();
  }
  if (!(await noteSent(sql, holding, id)))
    return 'the channel went to another worker while a message was sent';
  return null;
}
