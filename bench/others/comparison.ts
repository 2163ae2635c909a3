/** Results of one program for some work. Texts for the table; empty: not queried, or not measured. */
export interface Line {
  readonly work: string;
  readonly program: string;
  /** Bytes a probe, a job, a reading. */
  readonly kept: string;
  readonly year: string;
  /** Processor time of a probe or a job. */
  readonly processor: string;
  /** Cost of the queries. */
  readonly questions: string;
  /** Its result if others have none. */
  readonly results: string;
}

/** Context of a comparison. */
export interface ComparisonContext {
  readonly signal: AbortSignal;
  /** Logs the progress. */
  log(line: string): void;
  /** Logs what is not measured, and why. */
  skip(what: string, why: string): void;
}

const HEADINGS: Readonly<Record<keyof Line, string>> = {
  work: 'work',
  program: 'program',
  kept: 'kept',
  year: 'a year',
  processor: 'processor time',
  questions: 'questions, median of 20',
  results: 'its results',
};
const COLUMNS = ['work', 'program', 'kept', 'year', 'processor', 'questions', 'results'] as const;

/** The table, in Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    row(COLUMNS.map((name) => HEADINGS[name])),
    row(COLUMNS.map(() => '---')),
    ...lines.map((line) => row(COLUMNS.map((name) => line[name]))),
  ].join('\n');
}

/** A figure relative to the recorder's: `12 ms (3.4 ×)`. */
export function formatRelative(
  figure: number,
  recorders: number,
  format: (figure: number) => string,
): string {
  return figure === recorders ? format(figure) : `${format(figure)} (${short(figure / recorders)} ×)`;
}

export const bytes = (count: number): string =>
  count >= 1e9
    ? `${short(count / 1e9)} GB`
    : count >= 1e6
      ? `${short(count / 1e6)} MB`
      : count >= 1e3
        ? `${short(count / 1e3)} kB`
        : `${short(count)} B`;
export const milliseconds = (count: number): string => `${short(count)} ms`;
/** At least three digits. */
export const short = (figure: number): string =>
  Math.abs(figure) >= 100
    ? Math.round(figure).toLocaleString('en-US')
    : String(Number(figure.toPrecision(3)));
