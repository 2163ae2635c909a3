import { callChannel } from '../../upstreams/deliver.ts';
import { DeliveryFailure } from '../../upstreams/delivery-failure.ts';
import type { MakeChannel } from '../channel.ts';
import { textOf, titleOf } from '../message-texts.ts';

/** What a bot of Telegram says in a chat. It knows no key of a message: what is sent twice is shown twice. */
export const telegram: MakeChannel<'telegram'> = ({ url, token, chat }) => ({
  send: async (message, signal) => {
    // Without parse_mode nothing in a text has another meaning.
    const text = `${titleOf(message)}\n\n${textOf(message, 3_700)}`;
    const body = { chat_id: chat, text, link_preview_options: { is_disabled: true } };
    try {
      await callChannel({ url: `${url.replace(/\/$/, '')}/bot${token}/sendMessage`, body }, signal);
    } catch (error) {
      // It is the chat that is wrong, not the message: somebody has to mend the configuration.
      if (error instanceof DeliveryFailure && /chat not found|PEER_ID_INVALID|upgraded/i.test(error.message))
        throw new DeliveryFailure('down', error.message);
      throw error;
    }
  },
});
