import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { readFrom } from '../../app/read-source.ts';
import { duration } from '../../config/duration-schema.ts';
import { askAsReader } from '../../db/question.ts';
import { UsageError } from '../../lib/errors.ts';
import { printParquet } from '../output/print-parquet.ts';
import { printRows, ROW_FORMATS } from '../output/print-rows.ts';
import { both, exactInstantOf } from '../select-targets.ts';

/** Options of `query`, as text. */
export interface QueryOptions {
  readonly format: string;
  readonly asOf?: string | undefined;
  readonly timeout?: string | undefined;
}

const FORMATS = [...ROW_FORMATS, 'parquet'] as const;
const TIMEOUT = '60s';
const LONGEST = 86_400_000;

/**
 * Command `query SQL [--format table|csv|json|parquet] [--as-of T] [--timeout D]`: runs one statement as
 * `recorder_reader`. With `--as-of`, names of `reporting` without the schema return the rows known at that
 * moment.
 * @returns the exit code
 * @throws UsageError if the statement or an option is invalid, or the statement is not allowed
 */
export async function queryCommand(
  app: App,
  question: string,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<number> {
  const [format, [timeout, asOf]] = both(
    () => formatIn(options.format),
    () =>
      both(
        () => durationOf(options.timeout ?? TIMEOUT),
        () => (options.asOf === undefined ? null : pastMoment(options.asOf, app.clock())),
      ),
  );
  // As-of queries use temporary views, which a replica cannot create.
  const { url } = asOf ? { url: app.databaseUrl } : await readFrom(app);
  await askAsReader(url, question, { timeout, asOf, signal }, (answer) => {
    const names = answer.columns.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if ((format === 'json' || format === 'parquet') && twice !== undefined)
      throw new UsageError([`query: two columns are called ${twice}: give each a name of its own (as …)`]);
    return format === 'parquet'
      ? printParquet(answer, process.stdout)
      : printRows(answer, format, process.stdout);
  });
  return exitCode.done;
}

/** @throws UsageError if there is no such format, or it is unsuitable for the output */
function formatIn(text: string): (typeof FORMATS)[number] {
  const format = FORMATS.find((one) => one === text);
  if (!format) throw new UsageError([`--format ${text}: must be one of ${FORMATS.join(', ')}`]);
  if (format === 'parquet' && process.stdout.isTTY)
    throw new UsageError([
      '--format parquet: is not for a terminal: write it into a file, with > rows.parquet',
    ]);
  return format;
}

/**
 * Parses the moment of `--as-of`, as PostgreSQL does.
 * @throws UsageError if it is in the future, or not a time
 */
export function pastMoment(text: string, now: number): string {
  const moment = exactInstantOf('--as-of', text);
  if (Date.parse(moment) > now) throw new UsageError([`--as-of ${text}: has not come yet`]);
  return moment;
}

/**
 * Parses the duration of `--timeout`, in ms.
 * @throws UsageError if it is not a duration, or is more than a day
 */
function durationOf(text: string): number {
  const { data } = duration.safeParse(text);
  if (data === undefined || data > LONGEST)
    throw new UsageError([`--timeout ${text}: must be a duration such as 30s or 10m, from 5s to 1d`]);
  return data;
}
