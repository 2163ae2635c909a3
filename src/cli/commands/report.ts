import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { type ReadSource, selectReadSource } from '../../app/read-source.ts';
import { UsageError } from '../../lib/errors.ts';
import { parseInstant } from '../../lib/instant.ts';
import { findNearestName } from '../../lib/nearest-name.ts';
import { printCsv, printJson, printTable, printText } from '../../lib/print.ts';
import { breaksIn, discrepanciesIn } from '../../reporting/reports/discrepancies.ts';
import { rewardParameters } from '../../reporting/reports/rewards.ts';
import { reports, savedQueryNamed } from '../../reporting/reports/saved-queries.ts';
import { budgetText, type SlaReport, selectNode, slaReport } from '../../reporting/reports/sla.ts';
import { slaPage, watchedPart } from '../../reporting/reports/sla-page.ts';
import {
  achievedText,
  percentText,
  readUptime,
  requireSettled,
  spanText,
} from '../../reporting/reports/uptime.ts';
import { parseBoth, parseSpan, startOfMonth, unknownNodeText } from '../select-targets.ts';
import { incidentReport } from './incident-report.ts';
import { parseAsOfOption } from './query.ts';
import { type ReportOptions, savedQueryCommand } from './saved-query.ts';

/**
 * Command `report NAME`: incident, uptime, sla, status, discrepancies, series-breaks, or a saved query.
 * @returns the exit code
 * @throws UsageError if there is no such report, or an option is invalid
 */
export async function reportCommand(
  app: App,
  name: string,
  options: ReportOptions,
  signal: AbortSignal,
): Promise<number> {
  const others = findUnsupportedOptions(name, options);
  if (others.length > 0) throw new UsageError(others);
  if (name === 'status') {
    // The module loads the pages of the server, which take as long to load as everything else.
    const { statusFilesCommand } = await import('./status-files.ts');
    return statusFilesCommand(app, options, signal);
  }
  const report = {
    incident: incidentReport,
    uptime: uptimeCommand,
    sla: slaCommand,
    discrepancies: discrepanciesCommand,
    'series-breaks': seriesBreaksCommand,
  }[name];
  if (!report) {
    const savedQuery = savedQueryNamed(name);
    if (!savedQuery) {
      const nearest = findNearestName(
        name,
        reports().map((one) => one.name),
      );
      const hint =
        nearest === undefined ? '"report" without a name lists all reports' : `did you mean ${nearest}?`;
      throw new UsageError([`report ${name}: there is no such report; ${hint}`]);
    }
    const { url } = await selectReadSource(app);
    const defaults = rewardParameters(app.config.health.rewards);
    return savedQueryCommand({ databaseUrl: url, clock: app.clock, defaults }, savedQuery, options, signal);
  }
  if (options.node !== undefined && !app.config.upstreams.nodes.some((node) => node.name === options.node))
    throw new UsageError([unknownNodeText('--node', options.node, app.config)]);
  await report(app, options);
  return exitCode.done;
}

/** Returns the problems of options that a report other than a saved query would ignore. */
function findUnsupportedOptions(name: string, options: ReportOptions): string[] {
  const report = savedQueryNamed(name) ? undefined : reports().find((one) => one.name === name);
  if (!report) return [];
  const supported = report.takes.map((text) => text.replace(/ .*/, ''));
  const { from, to, node, month, asOf, out, slo, param } = options;
  const optionValues = {
    '--from': from,
    '--to': to,
    '--node': node,
    '--month': month,
    '--as-of': asOf,
    '--out': out,
    '--slo': slo,
  };
  return [...Object.entries(optionValues), ...param.map((text) => ['--param', text] as const)].flatMap(
    ([option, value]) => {
      if (value === undefined || supported.includes(option)) return [];
      const why =
        option === '--as-of' && report.notAsOf
          ? `: ${report.notAsOf}`
          : `; its options: ${report.takes.join(', ')}`;
      return [`${option} ${value}: is not an option of "report ${name}"${why}`];
    },
  );
}

/**
 * Command `report uptime [--from T] [--to T] [--node N] [--as-of T]`. Default: from the start of the month to
 * now, or to the moment of `--as-of`.
 */
async function uptimeCommand(app: App, options: ReportOptions): Promise<void> {
  const { sql } = await selectReadSource(app);
  const asOf = await parseSettledAsOf(app, sql, options);
  const now = asOf === null ? app.clock() : Date.parse(asOf);
  const span = parseSpan(options);
  const from = span.from ?? startOfMonth(now);
  const to = span.to ?? now;
  if (from >= to)
    throw new UsageError([`--from ${options.from ?? new Date(from).toISOString()}: must be before --to`]);
  if (asOf !== null && to > now) throw new UsageError([`--to ${options.to}: must not be after --as-of`]);
  const rows = await readUptime(sql, { from, to }, options.node ?? null, asOf);
  printInFormat(options.format, ['table', 'csv', 'json'], {
    json: () => printJson({ from: new Date(from), to: new Date(to), uptime: rows }),
    csv: () => printCsv(rows),
    table: () =>
      printTable(
        rows.map((row) => ({
          node: row.node,
          probe: row.probe,
          observer: row.observer,
          since: row.since,
          // The same value as in CSV, JSON and SQL: up / (up + down).
          uptime: row.uptime === null ? 'unknown' : percentText(row.uptime),
          'at least': row.uptime_lower === null ? 'unknown' : percentText(row.uptime_lower),
          up: spanText(row.up_seconds),
          down: spanText(row.down_seconds),
          unknown: spanText(row.unknown_seconds),
          maintenance: spanText(row.maintenance_seconds),
          coverage: percentText(row.coverage),
        })),
        'no node is watched',
      ),
  });
}

/** Command `report sla [--month YYYY-MM] [--slo 99.9] [--node N] [--as-of T]`. Default: this month. */
async function slaCommand(app: App, options: ReportOptions): Promise<void> {
  const { sql } = await selectReadSource(app);
  const asOf = await parseSettledAsOf(app, sql, options);
  const now = asOf === null ? app.clock() : Date.parse(asOf);
  const { slo, rewards } = app.config.health;
  const [month, promised] = parseBoth(
    () => parseMonth(options.month, now),
    () => parsePercentage(options.slo) ?? slo,
  );
  const ofAll = await slaReport(sql, month, now, promised, rewards, asOf);
  const report = options.node === undefined ? ofAll : selectNode(ofAll, options.node);
  printInFormat(options.format, ['table', 'csv', 'json', 'html'], {
    json: () => printJson(report),
    csv: () =>
      printCsv(
        report.nodes.map(({ incidents, notes, maintenance, probes, ...node }) => ({
          month: report.month,
          target_percent: promised,
          ...node,
          incidents: incidents.length,
        })),
      ),
    html: () => printText(slaPage(report)),
    table: () => printSla(report),
  });
}

/**
 * Returns the moment of `--as-of`. Returns null if the option is absent.
 * @throws UsageError if the moment is in the future, or the report for that moment may still change
 */
async function parseSettledAsOf(
  app: App,
  sql: ReadSource['sql'],
  { asOf }: ReportOptions,
): Promise<string | null> {
  if (asOf === undefined) return null;
  const moment = parseAsOfOption(asOf, app.clock());
  await requireSettled(sql, moment);
  return moment;
}

function printSla(report: SlaReport): void {
  const { nodes, validations, stake } = report;
  const isPart = nodes.some((node) => watchedPart(node, report) !== null);
  printTable(
    nodes.map((node) => ({
      node: node.node,
      ...(isPart ? { watched: watchedPart(node, report) ?? 'the whole time' } : {}),
      achieved: achievedText(node),
      target: `${report.target_percent} %`,
      verdict: node.verdict,
      down: spanText(node.down_seconds),
      unknown: spanText(node.unknown_seconds),
      'budget left': budgetText(node),
      incidents: node.incidents.length,
    })),
    'no node was watched in this month',
  );
  const incidents = nodes.flatMap((node) => node.incidents);
  if (incidents.length > 0) process.stdout.write('\nincidents\n');
  if (incidents.length > 0)
    printTable(
      incidents.map(
        ({ node, started_at, ended_at, duration_seconds, failed_checks, first_error, noticed_by }) => ({
          node,
          began: started_at,
          ended: ended_at,
          lasted: spanText(duration_seconds),
          'failed checks': failed_checks.join(', '),
          'first error': first_error,
          'observed by': noticed_by.join(', '),
        }),
      ),
      '',
    );
  if (validations.length > 0) process.stdout.write('\nvalidations as observed by nodes\n');
  if (validations.length > 0)
    printTable(
      validations.map((view) => ({
        validator: view.node,
        'seen by': view.seen_by,
        at: view.observed_at,
        'uptime %': view.uptime_percent,
        'required %': view.threshold_percent,
        'minutes of downtime left': view.downtime_left_minutes,
        until: view.end_time,
      })),
      '',
    );
  if (stake.length > 0) process.stdout.write('\nstake that supports the reward\n');
  if (stake.length > 0)
    printTable(
      stake.map((view) => ({ ...view })),
      '',
    );
}

async function discrepanciesCommand(app: App, options: ReportOptions): Promise<void> {
  const rows = await discrepanciesIn((await selectReadSource(app)).sql, parseSpan(options));
  printInFormat(options.format, ['table', 'csv', 'json'], {
    json: () => printJson(rows),
    csv: () => printCsv(rows, namesOf(rows)),
    table: () =>
      printTable(
        rows.map((row) => ({
          check: row.check_name,
          subject: row.subject,
          at: row.at,
          [LEFT]: `${row.left_source}: ${row.left_value}`,
          [RIGHT]: `${row.right_source}: ${row.right_value}`,
          difference: row.difference,
          '%': row.relative_difference === null ? null : (Number(row.relative_difference) * 100).toFixed(2),
          tolerated: row.tolerance,
          found: row.found_at,
        })),
        'no open discrepancies',
      ),
  });
}

/** Returns the names of the columns, even without rows. */
const namesOf = ({ columns }: { readonly columns: readonly { readonly name: string }[] }) =>
  columns.map(({ name }) => name);

const LEFT = 'first value';
const RIGHT = 'second value';

/**
 * Command `report series-breaks [--from T] [--to T]`: prints changes of the level of metrics. Default: any
 * time.
 */
async function seriesBreaksCommand(app: App, options: ReportOptions): Promise<void> {
  const rows = await breaksIn((await selectReadSource(app)).sql, parseSpan(options));
  printInFormat(options.format, ['table', 'csv', 'json'], {
    json: () => printJson(rows),
    csv: () => printCsv(rows, namesOf(rows)),
    table: () =>
      printTable(
        rows.map((row) => ({ ...row })),
        'no level shifts',
      ),
  });
}

/**
 * Parses the month of `--month` into ms since 1970. Default: this month.
 * @throws UsageError if the text is not a month, or the month has not started
 */
function parseMonth(text: string | undefined, now: number): { from: number; to: number } {
  const from = text === undefined ? startOfMonth(now) : parseInstant(`${text}-01`);
  if (from === null) throw new UsageError([`--month ${text}: must be a month such as 2026-11`]);
  if (from >= now) throw new UsageError([`--month ${text}: has not started`]);
  const next = new Date(from);
  return { from, to: next.setUTCMonth(next.getUTCMonth() + 1) };
}

/**
 * Parses the percentage of `--slo`. Returns undefined if the option is absent.
 * @throws UsageError if the text is not a percentage
 */
function parsePercentage(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const percentage = /^\d{1,3}(\.\d{1,12})?$/.test(text) ? Number(text) : 0;
  if (percentage > 0 && percentage <= 100) return percentage;
  throw new UsageError([`--slo ${text}: must be a percentage such as 99.9`]);
}

function printInFormat(
  format: string,
  formats: readonly string[],
  printers: Readonly<Record<string, () => void>>,
): void {
  if (!formats.includes(format))
    throw new UsageError([`--format ${format}: must be one of ${formats.join(', ')}`]);
  printers[format]?.();
}
