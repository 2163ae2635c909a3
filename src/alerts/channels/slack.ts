import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import { formatText, formatTitle } from '../message-texts.ts';

/**
 * Channel for an incoming webhook of Slack. Slack has no idempotency key, so a repeated message appears
 * twice.
 */
export const slack: MakeChannel<'slack'> = ({ url }) => ({
  send: async (message, signal) => {
    const text = `*${escaped(formatTitle(message))}*\n${escaped(formatText(message))}`;
    await callChannel({ url, body: { text, unfurl_links: false, unfurl_media: false } }, signal);
  },
});

/** Escapes texts of nodes, so that these texts contain no mention and no link. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
