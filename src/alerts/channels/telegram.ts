import { callChannel } from '../../upstreams/deliver.ts';
import { DeliveryFailure } from '../../upstreams/delivery-failure.ts';
import type { MakeChannel } from '../channel.ts';
import { formatText, formatTitle } from '../message-texts.ts';

/**
 * Channel for a Telegram bot in a chat. Telegram has no idempotency key, so a repeated message appears twice.
 */
export const telegram: MakeChannel<'telegram'> = ({ url, token, chat }) => ({
  send: async (message, signal) => {
    // Without parse_mode, no character of a text has a special meaning.
    const text = `${formatTitle(message)}\n\n${formatText(message, 3_700)}`;
    const body = { chat_id: chat, text, link_preview_options: { is_disabled: true } };
    try {
      await callChannel({ url: `${url.replace(/\/$/, '')}/bot${token}/sendMessage`, body }, signal);
    } catch (error) {
      // The configured chat is invalid, not the message. The failure lasts until the configuration is
      // corrected.
      if (error instanceof DeliveryFailure && /chat not found|PEER_ID_INVALID|upgraded/i.test(error.message))
        throw new DeliveryFailure('down', error.message);
      throw error;
    }
  },
});
