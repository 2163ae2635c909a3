import type { AlertItem, AlertMessage, MessageBody } from './message.ts';

const HEADS: Readonly<Record<MessageBody['kind'], string>> = {
  firing: 'FIRING',
  resolved: 'RESOLVED',
  unwatched: 'NO LONGER WATCHED',
  reminder: 'STILL FIRING',
  acknowledged: 'ACKNOWLEDGED',
  test: 'TEST',
};

/** Returns the first line of a message. */
export function formatTitle({ kind, rule, items, recorder }: MessageBody): string {
  const [first] = items;
  const more = items.length > 1 ? ` and ${items.length - 1} more` : '';
  const whose = recorder === 'recorder' ? '' : ` (${recorder})`;
  return `[${HEADS[kind]}] ${rule}: ${truncate(first?.subject ?? '', 120)}${more}${whose}`;
}

/** Maximum number of alerts listed in one message. */
const MAX_WRITTEN_OUT = 20;
/** Reference to the complete list of alerts, for truncated messages. */
const MORE_ALERTS_HINT = 'the page /alerts and "chain-recorder alerts" list all alerts';
/** Maximum length of the line about one alert, in characters. */
const MAX_LINE = 1_000;

/**
 * Returns the text of a message, in lines. If alerts are omitted, the text contains their number and a
 * reference to the complete list.
 * @param most maximum number of characters
 * @param safe escapes a text of upstreams for the channel
 */
export function formatText(message: AlertMessage, most = 3_500, safe = (text: string) => text): string {
  const { items, kind, about, advice, runbook, page } = message;
  const end = [
    about,
    `What to do: ${advice}`,
    ...(page === null ? [] : [`Page: ${page}`]),
    ...(runbook === null ? [] : [`Runbook: ${runbook}`]),
    ...(message.maybeAgain
      ? ['An earlier attempt ended without a response: this message can be a duplicate.']
      : []),
  ].join('\n');
  const room = most - end.length - MORE_ALERTS_HINT.length - 30;
  const lines: string[] = [];
  let length = 0;
  for (const item of items.slice(0, MAX_WRITTEN_OUT)) {
    const line = truncate(formatLine({ ...item, summary: safe(item.summary) }, kind), MAX_LINE);
    if (lines.length > 0 && length + line.length + 1 > room) break;
    lines.push(truncate(line, room));
    length += line.length + 1;
  }
  const left = items.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more: ${MORE_ALERTS_HINT}`);
  return truncate(`${lines.join('\n')}\n\n${end}`, most);
}

/** Returns the line about one alert. */
export function formatLine(
  { summary, since, firedAt, resolvedAt, flapping, alert }: AlertItem,
  kind: MessageBody['kind'],
): string {
  const id = alert > 0 ? ` [alert ${alert}]` : '';
  const come = flapping ? '; flapping: it is resolved after 30 minutes without the condition' : '';
  if (kind === 'resolved')
    return `Resolved: ${summary} (from ${firedAt ?? '?'} to ${resolvedAt ?? '?'})${id}`;
  if (kind === 'unwatched') return `${summary} (from ${firedAt ?? '?'} to ${resolvedAt ?? '?'})${id}`;
  const start =
    since === null ? (firedAt === null ? '' : ` (first observed ${firedAt})`) : ` (since ${since})`;
  return `${summary}${start}${come}${id}`;
}

/** Truncates a text to a number of characters. */
export function truncate(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 0)).toWellFormed()}…`;
}

/**
 * Returns the URL of the link of a message: the recorder's page, else the runbook's section. Returns null if
 * neither is configured.
 */
export const getMessageUrl = (message: MessageBody): string | null => message.page ?? message.runbook;
