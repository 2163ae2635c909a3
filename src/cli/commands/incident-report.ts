import type postgres from 'postgres';
import type { App } from '../../app/app.ts';
import { selectReadSource } from '../../app/read-source.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printText } from '../../lib/print.ts';
import { incidentsBetween, newestIncidents, readMoments } from '../../reporting/reports/incident.ts';
import { incidentMarkdown } from '../../reporting/reports/incident-page.ts';
import { parseSpan } from '../select-targets.ts';
import type { ReportOptions } from './saved-query.ts';

/** Length of the time before and after an incident that the report includes, in ms. */
const CONTEXT_MS = 3_600_000;

/**
 * Command `report incident --node N [--from T] [--to T]`: prints the events around the newest incident of a
 * node, or in a time range.
 * @throws UsageError if an option is invalid or missing, or the node had no incident
 */
export async function incidentReport(app: App, options: ReportOptions): Promise<void> {
  const { node, from, to, format } = options;
  const problems = [
    ...(node === undefined ? ['--node: name the node, such as --node validator-1'] : []),
    ...(['table', 'markdown', 'json'].includes(format)
      ? []
      : [`--format ${format}: must be markdown or json`]),
  ];
  if (problems.length > 0 || node === undefined) throw new UsageError(problems);
  const { sql } = await selectReadSource(app);
  const window = await windowOf(app.clock(), sql, node, from, to);
  const [incidents, story] = [
    await incidentsBetween(sql, node, window),
    await readMoments(sql, node, window),
  ];
  if (format === 'json')
    printJson({
      node,
      from: window.from,
      to: window.to,
      incidents,
      moments: story.moments,
      more: story.more,
    });
  else printText(incidentMarkdown({ node, ...window, incidents, ...story }));
}

async function windowOf(
  now: number,
  sql: postgres.Sql,
  node: string,
  from: string | undefined,
  to: string | undefined,
) {
  const span = parseSpan({ from, to });
  const [newest] = from === undefined ? await newestIncidents(sql, node, 1) : [];
  if (from === undefined && !newest)
    throw new UsageError([`report incident: ${node} had no incident: set a window with --from and --to`]);
  const began = Math.min(newest?.started_at.getTime() ?? now, newest?.failing_since?.getTime() ?? now);
  const ended = newest?.ended_at?.getTime() ?? now;
  const window = {
    from: new Date(span.from ?? began - CONTEXT_MS),
    to: new Date(span.to ?? Math.min(now, span.from === null ? ended + CONTEXT_MS : now)),
  };
  if (window.from >= window.to) throw new UsageError(['--from: must be before --to']);
  return window;
}
