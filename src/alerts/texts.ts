import type { Body, Item, Message } from './message.ts';

const HEADS: Readonly<Record<Body['kind'], string>> = {
  firing: 'FIRING',
  resolved: 'RESOLVED',
  reminder: 'STILL FIRING',
  acknowledged: 'ACKNOWLEDGED',
  test: 'TEST',
};

/** The first line of a message. */
export function titleOf({ kind, rule, items, recorder }: Body): string {
  const [first] = items;
  const more = items.length > 1 ? ` and ${items.length - 1} more` : '';
  const whose = recorder === 'recorder' ? '' : ` (${recorder})`;
  return `[${HEADS[kind]}] ${rule}: ${cut(first?.subject ?? '', 120)}${more}${whose}`;
}

/** How many alerts are written out in one message. */
const WRITTEN_OUT = 20;

/** What a message says, in lines. @param most the most characters that there may be */
export function textOf(message: Message, most = 3_500): string {
  const { items, kind, about, runbook } = message;
  const lines = items.slice(0, WRITTEN_OUT).map((item) => lineOf(item, kind));
  if (items.length > WRITTEN_OUT) lines.push(`… and ${items.length - WRITTEN_OUT} more`);
  const end = [
    about,
    `What to do: ${runbook}`,
    ...(message.maybeAgain ? ['An earlier attempt ended without an answer: this may be told twice.'] : []),
  ].join('\n');
  return `${cut(lines.join('\n'), most - end.length - 2)}\n\n${end}`;
}

/** One alert in a line. */
export function lineOf(
  { summary, since, firedAt, resolvedAt, flapping, alert }: Item,
  kind: Body['kind'],
): string {
  const id = alert > 0 ? ` [alert ${alert}]` : '';
  const come = flapping ? '; it comes and goes: it counts as over after 30 quiet minutes' : '';
  if (kind === 'resolved') return `Over: ${summary} (from ${firedAt ?? '?'} to ${resolvedAt ?? '?'})${id}`;
  return `${summary}${since === null ? '' : ` (since ${since})`}${come}${id}`;
}

/** A text of at most so many characters. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 0)).toWellFormed()}…`;
}

/** The runbook's address where it is one; null: it is a place in the package. */
export const linkOf = ({ runbook }: Body): string | null => (/^https?:/.test(runbook) ? runbook : null);
