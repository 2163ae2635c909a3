import { styleText } from 'node:util';
import cliTruncate from 'cli-truncate';
import { timeOfDay } from '../local-time.ts';
import { printable } from '../printable.ts';
import { type FindingGroup, inWords } from '../reports/findings.ts';

/** How the recording stands, as the live summary of `up` shows it. */
export interface Summary {
  readonly network: string;
  /** Where the pages are; null: this process has no server. */
  readonly address: string | null;
  readonly datasets: readonly DatasetRows[];
  readonly targets: number;
  readonly findings: readonly FindingGroup[];
  /** Rows a second, over the last while; null: not known yet. */
  readonly rate: number | null;
  /** Why the database gave no answer; null: it did. */
  readonly away: string | null;
}

/** What is recorded of a dataset. */
export interface DatasetRows {
  readonly dataset: string;
  readonly rows: number;
  /** Since the process began. */
  readonly added: number;
  readonly last: Date | null;
}

const MOST_DATASETS = 6;
const MOST_FINDINGS = 4;
/** A longer line would break in two when the terminal is made narrower. */
const LONGEST_RULE = 40;
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/**
 * The lines of the live summary: what is recorded, how fast, what came last, and what is not as it should be.
 * @param width the characters of a line; no line is longer
 * @param height the lines of the terminal; half of them at most are used
 */
export function summaryLines(summary: Summary, width: number, height: number): string[] {
  const { network, address, datasets, targets, findings, rate, away } = summary;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: process.stderr });
  const cut = (text: string) => cliTruncate(printable(text), Math.max(1, width - 1));
  const rows = datasets.reduce((sum, one) => sum + one.rows, 0);
  const speed = rate === null ? '' : `   ${number.format(rate)} rows/s`;
  const head = [
    style('dim', '─'.repeat(Math.max(1, Math.min(LONGEST_RULE, width - 1)))),
    style('bold', cut(`${network}${address === null ? '' : `   ${address}`}   Ctrl-C stops`)),
    cut(`${datasets.length} datasets   ${targets} targets   ${number.format(rows)} rows${speed}`),
  ];
  const wrong =
    away === null
      ? findings.slice(0, MOST_FINDINGS).map((one) => style('yellow', cut(inWords(one, timeOfDay))))
      : [style('red', cut(`the database gives no answer: ${away}`))];
  const more = findings.length - MOST_FINDINGS;
  const others = more > 0 ? [style('yellow', cut(`and ${more} more: chain-recorder status`))] : [];
  const fine = away === null && findings.length === 0 ? [style('green', cut('nothing is late'))] : [];
  const bottom = [...wrong, ...others, ...fine];
  const room = Math.max(0, Math.floor(height / 2) - head.length - bottom.length);
  return [...head, ...newest(datasets).slice(0, Math.min(room, MOST_DATASETS)).map(cut), ...bottom];
}

/** Lines of the datasets that were recorded last. */
function newest(datasets: readonly DatasetRows[]): string[] {
  const shown = datasets
    .flatMap(({ last, ...one }) => (last === null ? [] : [{ ...one, last }]))
    .sort((one, other) => other.last.getTime() - one.last.getTime() || other.added - one.added)
    .slice(0, MOST_DATASETS);
  const width = Math.max(0, ...shown.map(({ dataset }) => dataset.length));
  const figures = Math.max(0, ...shown.map(({ rows }) => number.format(rows).length));
  return shown.map(
    ({ dataset, rows, added, last }) =>
      `  ${timeOfDay(last)}  ${dataset.padEnd(width)}  ${number.format(rows).padStart(figures)}${added > 0 ? `  +${number.format(added)}` : ''}`,
  );
}
