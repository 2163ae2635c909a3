import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import type { AlertChannel } from './channel.ts';
import type { AlertMessage } from './message.ts';
import { truncate } from './message-texts.ts';

/** Maximum length of the texts of an alert whose message was too large, in characters. */
const SHORT_TEXT = 300;
const SHORT_SUBJECT = 100;

/**
 * Sends a message. If the channel rejects it as too large, sends the alerts in halves, and a single alert
 * with short texts.
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
