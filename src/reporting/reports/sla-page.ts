import { escapeHtml } from '../../lib/safe-text.ts';
import { budgetText, type NodeSla, type SlaIncident, type SlaReport } from './sla.ts';
import { achievedText, lastedText, percentText, spanText } from './uptime.ts';

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b6570; --line: #d5dae0; --page: #fff; --panel: #f6f8fa;
  --met: #1a7f37; --missed: #c1121f; --open: #8a5a00; --up: #3fa45b; --down: #d1242f; --unknown: #a8b1bb; --maintenance: #6b8fd6; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #9aa4af; --line: #3a424c; --page: #14181d;
  --panel: #1d232a; --met: #56c271; --missed: #ff7b72; --open: #e0b252; --unknown: #5b6570; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 62rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 0 0 .5rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
section { margin-top: 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .5rem 1rem; margin: .75rem 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; }
.bar { display: flex; height: .75rem; border-radius: 4px; overflow: hidden; background: var(--unknown); print-color-adjust: exact; }
.bar i { display: block; min-width: 1px; } .key { display: inline-block; width: .7em; height: .7em; margin-right: .35em; border-radius: 2px;
  print-color-adjust: exact; } .up { background: var(--up); } .down { background: var(--down); }
.unknown { background: var(--unknown); } .maintenance { background: var(--maintenance); }
.met { color: var(--met); } .missed { color: var(--missed); } .open { color: var(--open); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; border-top: 0; white-space: nowrap; } td { overflow-wrap: anywhere; min-width: 6rem; }
@page { margin: 16mm 14mm; }
@media print { :root { color-scheme: light; --text: #000; --soft: #444; --line: #bbb; --page: #fff; --panel: #fff; --met: #1a7f37;
  --missed: #c1121f; --open: #8a5a00; --unknown: #a8b1bb; } body { max-width: none; padding: 0; font-size: 10pt; }
  section { padding: .75rem 0; border-width: 1px 0 0; border-radius: 0; }
  h2, h3 { break-after: avoid; } tr, dl, .bar { break-inside: avoid; } .scroll { overflow: visible; }
  table { font-size: 8pt; } th { white-space: normal; overflow-wrap: normal; } th, td { padding-right: .4rem; } td { min-width: 0; } }
`;

const VERDICTS = { met: 'target met', missed: 'target missed', open: 'not decided' } as const;

/** Renders the report as one HTML page for screens and for paper. The page loads no external resources. */
export function slaPage(report: SlaReport): string {
  const title = `Service level of ${report.month}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p class="soft">${timeText(report.from)} to ${timeText(report.to)}${report.complete ? '' : ', so far'}; target ${report.target_percent} %.
Made ${timeText(report.made_at)}. All times are UTC.</p>
<p class="soft">Uptime is the time up as a share of the time up and down. Unobserved time counts as neither; if there is
any, the page contains a lower bound of the uptime. Announced maintenance is excluded.</p>
${report.nodes.map((node) => nodeSection(node, report)).join('\n')}
${report.nodes.length === 0 ? '<section><p>No node was watched in this month.</p></section>' : ''}
${networkSection(report)}
${sealed(report)}
</body></html>
`;
}

/**
 * Renders the seal of the recorded data. Readers can use the seal to verify that the data was not changed
 * later.
 */
function sealed({ seal }: SlaReport): string {
  if (!seal)
    return '<section><h2>Proof</h2><p>The recorded data is not sealed yet, so later changes of the data cannot be detected.</p></section>';
  return `<section><h2>Proof</h2><p>The recorded data is sealed until ${timeText(seal.sealed_until)}: seal ${seal.seal}, <code>${escapeHtml(seal.head)}</code></p>
<p class="soft">The seal is a hash of the whole record. Keep this page: if a row is changed later, <code>chain-recorder verify</code>
computes another hash and reports the day.</p></section>`;
}

function nodeSection(node: NodeSla, report: SlaReport): string {
  const part = watchedPart(node, report);
  const facts = [
    ...(part === null ? [] : [['watched', part]]),
    ['achieved', achievedText(node)],
    ['up', spanText(node.up_seconds)],
    ['down', spanText(node.down_seconds)],
    ['unknown', spanText(node.unknown_seconds)],
    ['maintenance', spanText(node.maintenance_seconds)],
    ['error budget', spanText(node.budget_seconds)],
    ['budget left', budgetText(node)],
    [
      'response p50 / p99',
      node.p50_ms === null ? 'unknown' : `${node.p50_ms.toFixed(1)} / ${node.p99_ms?.toFixed(1)} ms`,
    ],
    [
      'observers',
      `${node.observers}${node.disagreement_seconds > 0 ? `, disagreed for ${spanText(node.disagreement_seconds)}` : ''}`,
    ],
  ];
  return `<section><h2>${escapeHtml(node.node)} <span class="${node.verdict}">${VERDICTS[node.verdict]}</span></h2>
<p>${part === null ? '' : `The node was watched only ${part}, and all numbers refer to that part of the month. `}${boundsSentence(node)}</p>
${bar(node)}
<dl>${facts.map(([name, value]) => `<div><dt>${swatch(name)}${name}</dt><dd>${escapeHtml(value ?? '')}</dd></div>`).join('')}</dl>
<h3>Probes</h3>
${probeTable(node.probes)}
<h3>Incidents</h3>
${node.incidents.length === 0 ? '<p class="soft">No incident.</p>' : incidentTable(node.incidents)}
${node.notes.length === 0 ? '' : `<h3>Notes</h3>${noteTable(node.notes)}`}
<h3>Maintenance</h3>
${node.maintenance.length === 0 ? '<p class="soft">No maintenance.</p>' : maintenanceTable(node.maintenance)}</section>`;
}

/** Renders the colour of a state in the bar. Returns an empty text for other facts. */
const swatch = (name: string | undefined) =>
  ['up', 'down', 'unknown', 'maintenance'].includes(name ?? '') ? `<i class="key ${name}"></i>` : '';

/** Describes the bounds of the uptime in one sentence for customers. */
export function boundsSentence({ uptime, uptime_lower, uptime_upper, unknown_seconds }: NodeSla): string {
  if (uptime === null || uptime_lower === null || uptime_upper === null)
    return 'The uptime is unknown: the node was not observed outside of maintenance.';
  if (unknown_seconds === 0)
    return `The node was up ${percentText(uptime)} of the time outside of maintenance, and all of that time was observed.`;
  const upper = uptime_upper < 1 ? ` and at most ${roundedUp(uptime_upper)}` : '';
  return `The node was up at least ${percentText(uptime_lower)}${upper} of the time outside of maintenance: ${spanText(unknown_seconds)} of it were not observed, and the node may have been up or down then.`;
}

/** Formats a share in percent, rounded up, because an upper bound must not be too low. */
const roundedUp = (share: number) => `${(Math.ceil(share * 100_000 - 1e-6) / 1000).toFixed(3)} %`;

const probeTable = (probes: NodeSla['probes']) =>
  table(
    ['probe', 'uptime', 'up', 'down', 'unknown', 'maintenance'],
    probes.map((probe) => [
      probe.probe,
      achievedText(probe),
      spanText(probe.up_seconds),
      spanText(probe.down_seconds),
      spanText(probe.unknown_seconds),
      spanText(probe.maintenance_seconds),
    ]),
  );

const noteTable = (notes: NodeSla['notes']) =>
  table(
    ['at', 'author', 'note'],
    notes.map(({ at, author, note }) => [timeText(at), author, note]),
  );

const maintenanceTable = (windows: NodeSla['maintenance']) =>
  table(
    ['start', 'end', 'reason'],
    windows.map(({ started_at, ended_at, reason }) => [
      timeText(started_at),
      timeText(ended_at),
      reason ?? '–',
    ]),
  );

/** Returns the watched part of the reported time, or null if the node was watched in all of it. */
export function watchedPart(node: NodeSla, { from, to }: SlaReport): string | null {
  const since = node.since > from ? `since ${timeText(node.since)}` : '';
  const until = node.until < to ? `until ${timeText(node.until)}` : '';
  return since || until ? `${since} ${until}`.trim() : null;
}

function bar(node: NodeSla): string {
  const whole = node.up_seconds + node.down_seconds + node.unknown_seconds + node.maintenance_seconds;
  const parts = (['up', 'down', 'unknown', 'maintenance'] as const).map((state) => {
    const share = whole === 0 ? 0 : node[`${state}_seconds`] / whole;
    return share === 0
      ? ''
      : `<i class="${state}" style="width:${(share * 100).toFixed(4)}%" title="${state} ${percentText(share)}"></i>`;
  });
  return `<div class="bar" role="img" aria-label="shares of up, down, unknown and maintenance">${parts.join('')}</div>`;
}

function incidentTable(incidents: readonly SlaIncident[]): string {
  return table(
    ['start', 'lasted', 'failed checks', 'first error', 'last error', 'observed by'],
    incidents.map((incident) => [
      timeText(incident.started_at),
      `${lastedText(incident)}${incident.ended_at ? '' : ', ongoing'}`,
      incident.failed_checks.join(', ') || '–',
      incident.first_error ?? '–',
      incident.last_error === incident.first_error ? 'the same' : (incident.last_error ?? '–'),
      incident.noticed_by.join(', '),
    ]),
  );
}

function networkSection({ validations, stake }: SlaReport): string {
  if (validations.length === 0 && stake.length === 0) return '';
  const observers = table(
    [
      'validator',
      'seen by',
      'at',
      'observed uptime',
      'required',
      'downtime left until the end',
      'validation',
    ],
    validations.map((view) => [
      view.node,
      view.seen_by,
      timeText(view.observed_at),
      view.uptime_percent === null ? 'not reported' : `${view.uptime_percent} %`,
      `${view.threshold_percent} %`,
      leftText(view.downtime_left_minutes),
      `${timeText(view.start_time)} to ${timeText(view.end_time)}`,
    ]),
  );
  const rewarding = table(
    ['node', 'at', 'stake that supports the reward', 'stake-weighted average uptime'],
    stake.map((view) => [
      view.node,
      timeText(view.observed_at),
      `${view.rewarding_stake_percentage} %`,
      `${view.weighted_average_percentage} %`,
    ]),
  );
  return `<section><h2>Uptime as observed by the network</h2>
<p class="soft">The latest observations of each node. Every validator decides about the reward by itself.</p>
${validations.length > 0 ? observers : ''}${stake.length > 0 ? `<h3>Rewarding stake</h3>${rewarding}` : ''}</section>`;
}

function leftText(minutes: number | null): string {
  if (minutes === null) return 'unknown';
  return minutes < 0 ? `missed by ${spanText(-minutes * 60)}` : spanText(minutes * 60);
}

function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table><thead>${line('th', names)}</thead><tbody>${rows.map((row) => line('td', row)).join('')}</tbody></table></div>`;
}

const timeText = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');
