import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import type { MessageBody } from '../message.ts';
import { formatText, formatTitle, getMessageUrl, truncate } from '../message-texts.ts';
import { isEnd } from '../state.ts';

/** Channel for ntfy, published as JSON. ntfy has no idempotency key, so a repeated message appears twice. */
export const ntfy: MakeChannel<'ntfy'> = ({ url, topic, token }) => ({
  send: async (message, signal) => {
    const link = getMessageUrl(message);
    const body = {
      topic,
      title: truncate(formatTitle(message), 250),
      // ntfy converts a message of more than 4,096 bytes to an attachment.
      message: truncateBytes(formatText(message), 4_000),
      priority: priorityOf(message),
      tags: [message.kind === 'resolved' ? 'white_check_mark' : 'rotating_light', message.rule],
      ...(link !== null && { click: link }),
    };
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await callChannel({ url, headers, body }, signal);
  },
});

/** Returns the priority, from 1 (lowest) to 5 (highest). */
function priorityOf({ kind, severity }: MessageBody): number {
  return isEnd(kind) ? 3 : { info: 2, warning: 4, critical: 5 }[severity];
}

/** Truncates a text to a number of bytes, without splitting a character. */
function truncateBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  return `${new TextDecoder().decode(bytes.subarray(0, most - 3)).replace(/\uFFFD$/, '')}…`;
}
