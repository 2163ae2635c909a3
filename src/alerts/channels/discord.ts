import { escapeMarkdown } from '../../lib/safe-text.ts';
import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import type { MessageBody } from '../message.ts';
import { formatText, formatTitle, getMessageUrl, truncate } from '../message-texts.ts';

const RED = 0xd32f2f;
const YELLOW = 0xf9a825;
const GREEN = 0x388e3c;
const BLUE = 0x1976d2;

/** Channel for a Discord webhook. Discord has no idempotency key, so a repeated message appears twice. */
export const discord: MakeChannel<'discord'> = ({ url }) => ({
  send: async (message, signal) => {
    const address = new URL(url);
    // Without `wait`, Discord responds before it has stored the message.
    address.searchParams.set('wait', 'true');
    const link = getMessageUrl(message);
    const embed = {
      title: truncate(formatTitle(message), 256),
      // A summary must not become a link to another address.
      description: formatText(message, 4_000, escapeMarkdown),
      color: colourOf(message),
      timestamp: message.at,
      ...(link !== null && { url: link }),
    };
    // No user is mentioned, even if the text of a node contains a mention.
    await callChannel(
      { url: address.href, body: { embeds: [embed], allowed_mentions: { parse: [] } } },
      signal,
    );
  },
});

function colourOf({ kind, severity }: MessageBody): number {
  if (kind === 'resolved') return GREEN;
  return { critical: RED, warning: YELLOW, info: BLUE }[severity];
}
