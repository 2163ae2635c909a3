import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { selectReadSource } from '../../app/read-source.ts';
import { duration } from '../../config/duration-schema.ts';
import type { TextRow } from '../../db/copy-text.ts';
import { queryAsReader, type ReaderQueryResult } from '../../db/query-as-reader.ts';
import { UsageError } from '../../lib/errors.ts';
import type { OutputStream } from '../../lib/output-stream.ts';
import { parseFields } from '../../lib/parse-fields.ts';
import { explainWriteErrors } from '../../lib/write-errors.ts';
import { createPacedWriter, printRows, ROW_FORMATS } from '../output/print-rows.ts';
import { parseBoth, parseExactInstantOption } from '../select-targets.ts';

export interface QueryOptions {
  readonly format: string;
  readonly asOf?: string | undefined;
  readonly timeout?: string | undefined;
}

const FORMATS = [...ROW_FORMATS, 'parquet'] as const;
const DEFAULT_TIMEOUT = '60s';
const MAX_TIMEOUT_MS = 86_400_000;

/**
 * Command `query SQL [--format table|csv|json|parquet] [--as-of T] [--timeout D]`: runs one statement as
 * `recorder_reader`. With `--as-of`, names of `reporting` without the schema return the rows known at that
 * moment.
 * @returns the exit code
 * @throws UsageError if the statement or an option is invalid, or the statement is not allowed
 */
export async function queryCommand(
  app: App,
  statement: string,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<number> {
  const [format, [timeout, asOf]] = parseBoth(
    () => parseFormat(options.format),
    () =>
      parseBoth(
        () => parseTimeout(options.timeout ?? DEFAULT_TIMEOUT),
        () => (options.asOf === undefined ? null : parseAsOfOption(options.asOf, app.clock())),
      ),
  );
  // As-of queries use temporary views, which a replica cannot create.
  const { url } = asOf ? { url: app.databaseUrl } : await selectReadSource(app);
  await queryAsReader(url, statement, { timeout, asOf, signal }, (answer) => {
    const names = answer.columns.map(({ name }) => name);
    const duplicate = names.find((name, at) => names.indexOf(name) < at);
    if ((format === 'json' || format === 'parquet') && duplicate !== undefined)
      throw new UsageError([`query: two columns are named ${duplicate}: rename one of them (as …)`]);
    return format === 'parquet'
      ? printParquet(answer, process.stdout)
      : printRows(answer, format, process.stdout);
  });
  return exitCode.done;
}

/**
 * Parses the format of `--format`.
 * @throws UsageError if there is no such format, or the format is unsuitable for the output
 */
function parseFormat(text: string): (typeof FORMATS)[number] {
  const format = FORMATS.find((one) => one === text);
  if (!format) throw new UsageError([`--format ${text}: must be one of ${FORMATS.join(', ')}`]);
  if (format === 'parquet' && process.stdout.isTTY)
    throw new UsageError([
      '--format parquet: cannot be printed on a terminal: redirect the output to a file, with > rows.parquet',
    ]);
  return format;
}

/**
 * Parses the moment of `--as-of`, as PostgreSQL does.
 * @throws UsageError if the text is not a time, or the time is in the future
 */
export function parseAsOfOption(text: string, now: number): string {
  const moment = parseExactInstantOption('--as-of', text);
  if (Date.parse(moment) > now) throw new UsageError([`--as-of ${text}: is in the future`]);
  return moment;
}

/**
 * Parses the duration of `--timeout`, in ms.
 * @throws UsageError if the text is not a duration, or the duration is more than a day
 */
function parseTimeout(text: string): number {
  const { data } = duration.safeParse(text);
  if (data === undefined || data > MAX_TIMEOUT_MS)
    throw new UsageError([`--timeout ${text}: must be a duration such as 30s or 10m, from 5s to 1d`]);
  return data;
}

/**
 * Prints a query result as a Parquet file, which is first written to a temporary folder. Returns early if the
 * reader closes the output.
 * @throws the errors of {@link explainWriteErrors}
 */
async function printParquet({ columns, rows }: ReaderQueryResult, out: OutputStream): Promise<void> {
  // Only Parquet output loads the library.
  const { writeParquetResult } = await import('../../warehouse/query-result-file.ts');
  const place = `TMPDIR ${tmpdir()}`;
  const folder = await explainWriteErrors(place, () => mkdtemp(join(tmpdir(), 'chain-recorder-query-')));
  try {
    const path = await explainWriteErrors(place, () =>
      writeParquetResult(folder, columns, fields(rows('values'))),
    );
    const write = createPacedWriter(out);
    for await (const bytes of createReadStream(path)) if (!(await write(bytes))) return;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* fields(blocks: AsyncIterable<readonly string[]>): AsyncGenerator<readonly TextRow[]> {
  for await (const block of blocks) yield block.map(parseFields);
}
