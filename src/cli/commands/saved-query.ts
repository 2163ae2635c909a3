import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { queryAsReader } from '../../db/query-as-reader.ts';
import { UsageError } from '../../lib/errors.ts';
import type { OutputStream } from '../../lib/output-stream.ts';
import { printJson, printTable } from '../../lib/print.ts';
import {
  optionText,
  reports,
  type SavedQuery,
  savedQueryParameters,
  savedQuerySql,
  type Values,
} from '../../reporting/reports/saved-queries.ts';
import { printPage } from '../output/print-page.ts';
import { printRows, ROW_FORMATS } from '../output/print-rows.ts';
import { parseSpan, startOfMonth } from '../select-targets.ts';
import { parseAsOfOption } from './query.ts';

export interface ReportOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly node?: string | undefined;
  readonly month?: string | undefined;
  readonly asOf?: string | undefined;
  /** Parameters of a saved query, each as KEY=VALUE. */
  readonly param: readonly string[];
  /** Promised uptime of `report sla`, in percent. */
  readonly slo?: string | undefined;
  readonly format: string;
  /** Folder for the files of `report status`. */
  readonly out?: string | undefined;
}

const FORMATS = [...ROW_FORMATS, 'html'] as const;

/** Reports with options that saved queries do not have. */
const REPORTS_BY_OPTION = { node: 'uptime, sla and incident', month: 'sla', slo: 'sla' };

/** Timeout of a saved query, in ms. */
const QUERY_TIMEOUT_MS = 600_000;

/**
 * Command `report` without a name: lists every report and its purpose; as JSON also its options.
 * @throws UsageError if the format is not table or json
 */
export function listReports(format: string): void {
  const all = reports();
  if (format !== 'table' && format !== 'json')
    throw new UsageError([`--format ${format}: must be one of table, json`]);
  if (format === 'json') printJson({ reports: all });
  else
    printTable(
      all.map(({ name, answers }) => ({ report: name, answers })),
      '',
    );
}

/**
 * Command `report NAME [--from T] [--to T] [--as-of T] [--param KEY=VALUE ...] [--format
 * table|csv|json|html]`: runs a saved query. Default time range: from the start of the month to now, or to
 * the moment of `--as-of`.
 * @param app `defaults`: parameters from the configuration, for queries that have parameters of these names
 * @returns the exit code
 * @throws UsageError if a value is invalid for the query, or the query has no correct result; with the reason
 */
export async function savedQueryCommand(
  app: Pick<App, 'databaseUrl' | 'clock'> & { readonly defaults?: Values },
  savedQuery: SavedQuery,
  options: ReportOptions,
  signal: AbortSignal,
  out: OutputStream = process.stdout,
): Promise<number> {
  const format = FORMATS.find((one) => one === options.format);
  if (!format) throw new UsageError([`--format ${options.format}: must be one of ${FORMATS.join(', ')}`]);
  const names = new Set(savedQueryParameters(savedQuery).map(({ name }) => name));
  const defaults = Object.entries(app.defaults ?? {}).filter(([name]) => names.has(name));
  const parameters = parseParameters(savedQuery, options, app.clock());
  const statement = savedQuerySql(savedQuery, { ...Object.fromEntries(defaults), ...parameters });
  await queryAsReader(
    app.databaseUrl,
    statement,
    { timeout: QUERY_TIMEOUT_MS, asOf: null, signal },
    (answer) =>
      format === 'html'
        ? printPage(answer, { title: savedQuery.name, about: savedQuery.answer.comment, statement }, out)
        : printRows(answer, format, out),
  ).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.problems.map((one) => one.replace(/^query:/, `report ${savedQuery.name}:`)));
  });
  return exitCode.done;
}

/**
 * Returns the parameters from the options.
 * @throws UsageError with every invalid option
 */
function parseParameters(savedQuery: SavedQuery, options: ReportOptions, now: number): Values {
  const others = (['node', 'month', 'slo'] as const).filter((name) => options[name] !== undefined);
  const pairs = options.param.map((text) => [text, text.indexOf('=')] as const);
  const names = pairs.map(([text, at]) => text.slice(0, at));
  const problems = [
    ...others.map(
      (name) =>
        `--${name}: is an option of ${REPORTS_BY_OPTION[name]}; for other reports use --param KEY=VALUE`,
    ),
    ...pairs.filter(([, at]) => at < 1).map(([text]) => `--param ${text}: must be KEY=VALUE`),
    ...pairs
      .filter(([text]) => /^(from|to|as_of)=/.test(text))
      .map(([text]) => `--param ${text}: write ${optionText(text.replace(/=.*/, ''))}… instead`),
    ...names.flatMap((name, at) =>
      names.indexOf(name) < at ? [`--param ${options.param[at]}: ${name} is given twice`] : [],
    ),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  const targets = Object.fromEntries(pairs.map(([text, at]) => [text.slice(0, at), text.slice(at + 1)]));
  const asOf = options.asOf === undefined ? undefined : parseAsOfOption(options.asOf, now);
  const windowOptions = { from: options.from, to: options.to, as_of: asOf };
  const takes = (name: string) => savedQueryParameters(savedQuery).some((one) => one.name === name);
  const window =
    takes('from') && takes('to') ? windowOf(options, asOf === undefined ? now : Date.parse(asOf)) : {};
  return {
    ...targets,
    ...Object.fromEntries(
      Object.entries(windowOptions).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    ),
    ...window,
  };
}

/**
 * Returns the time range. Default end: `latest` (ms since 1970). Default start: the start of the end's month.
 */
function windowOf({ from, to }: ReportOptions, latest: number): { from: string; to: string } {
  const span = parseSpan({ from, to });
  const end = span.to ?? latest;
  const begin = span.from ?? startOfMonth(end - 1);
  // If both options are given, `parseSpan` has already compared them, in microseconds.
  if ((span.from === null || span.to === null) && begin >= end)
    throw new UsageError([`--from ${from ?? new Date(begin).toISOString()}: must be before --to`]);
  return { from: from ?? new Date(begin).toISOString(), to: to ?? new Date(end).toISOString() };
}
