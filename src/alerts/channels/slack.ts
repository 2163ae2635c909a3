import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import { textOf, titleOf } from '../message-texts.ts';

/** An incoming webhook of Slack. It knows no key of a message: what is sent twice is shown twice. */
export const slack: MakeChannel<'slack'> = ({ url }) => ({
  send: async (message, signal) => {
    const text = `*${escaped(titleOf(message))}*\n${escaped(textOf(message))}`;
    await callChannel({ url, body: { text, unfurl_links: false, unfurl_media: false } }, signal);
  },
});

/** What a node says must not mention people, or look like a link. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
