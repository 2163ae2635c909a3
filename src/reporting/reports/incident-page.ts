import { escapeMarkdown } from '../../lib/safe-text.ts';
import type { Incident, IncidentWindow, Moment } from './incident.ts';

/** The data of a post-mortem. */
export interface Postmortem extends IncidentWindow {
  readonly node: string;
  readonly incidents: readonly Incident[];
  readonly moments: readonly Moment[];
  /** The number of omitted events. */
  readonly more: number;
}

/**
 * Renders a post-mortem as Markdown: its incidents, and all events in the order of time (UTC). Texts of
 * services and people are escaped.
 */
export function incidentMarkdown({ node, from, to, incidents, moments, more }: Postmortem): string {
  const lines = [
    `# ${escapeMarkdown(node)}, ${time(from)} to ${time(to)} (UTC)`,
    '',
    ...(incidents.length === 0 ? ['The node was not down in this range.'] : incidents.map(incidentLine)),
    '',
    '| time | event | source |',
    '| --- | --- | --- |',
    ...moments.map(
      ({ at, what, source }) => `| ${time(at)} | ${escapeMarkdown(what)} | ${escapeMarkdown(source)} |`,
    ),
    ...(more > 0 ? ['', `${more} later events are not shown: choose a shorter window.`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function incidentLine(one: Incident): string {
  const until = one.ended_at ? `until ${time(one.ended_at)}` : 'and is still down';
  const since = one.failing_since ? `, failing since ${time(one.failing_since)} according to the node` : '';
  const checks = one.failed_checks?.length
    ? `, checks: ${one.failed_checks.map(escapeMarkdown).join(', ')}`
    : '';
  const outages = one.outages === '1' ? '' : ` in ${one.outages} outages`;
  const unknown = Math.round(Number(one.unknown_seconds));
  const unobserved = unknown === 0 ? '' : `, unobserved for ${unknown} s`;
  const error = one.first_error === null ? '' : `: ${escapeMarkdown(one.first_error)}`;
  return `- ${escapeMarkdown(one.probe)} was down from ${time(one.started_at)} ${until} (${Math.round(Number(one.down_seconds))} s${outages}${unobserved}, seen by ${one.noticed_by.map(escapeMarkdown).join(', ')}${since}${checks})${error}`;
}

const time = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ');
