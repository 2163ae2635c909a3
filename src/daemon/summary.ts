import { styleText } from 'node:util';
import { localTime, timeOfDay } from '../lib/local-time.ts';
import { printable } from '../lib/safe-text.ts';
import { shortened } from '../lib/truncate-text.ts';
import { type FindingGroup, inWords } from '../reporting/reports/findings.ts';

/** How the recording stands, as the live summary of `up` shows it. */
export interface Summary {
  /** When it was so. */
  readonly now: Date;
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
  const { now, network, address, datasets, targets, findings, rate, away } = summary;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: process.stderr });
  const cut = (text: string) => shortened(printable(text), Math.max(1, width - 1));
  const rows = datasets.reduce((sum, one) => sum + one.rows, 0);
  const speed = rate === null ? [] : [`${number.format(rate)} rows/s`];
  const where = [network, ...(address === null ? [] : [address]), 'Ctrl-C stops'];
  const figures = [
    `${datasets.length} datasets`,
    `${targets} targets`,
    `${number.format(rows)} rows`,
    ...speed,
  ];
  const rule = style(
    'dim',
    ruleWith(localTime(now).slice('2026-11-22 '.length), Math.min(LONGEST_RULE, width - 1)),
  );
  const headOf = (room: number) => [
    rule,
    ...flowing(where, room).map((line) => style('bold', cut(line))),
    ...flowing(figures, room).map(cut),
  ];
  const wrong =
    away === null
      ? findings.slice(0, MOST_FINDINGS).map((one) => style('yellow', cut(inWords(one, timeOfDay))))
      : [style('red', cut(`the database gives no answer: ${away}`))];
  const more = findings.length - MOST_FINDINGS;
  const others = more > 0 ? [style('yellow', cut(`and ${more} more: chain-recorder status`))] : [];
  const fine = away === null && findings.length === 0 ? [style('green', cut('nothing is late'))] : [];
  const bottom = [...wrong, ...others, ...fine];
  const most = Math.floor(height / 2);
  const flowed = headOf(width - 1);
  // Where there are too few lines for that, what does not fit into the width is cut.
  const head = flowed.length + bottom.length <= most ? flowed : headOf(Number.POSITIVE_INFINITY);
  const room = Math.max(0, most - head.length - bottom.length);
  return [
    ...head,
    ...newest(datasets, width - 1)
      .slice(0, Math.min(room, MOST_DATASETS))
      .map(cut),
    ...bottom,
  ];
}

/** Parts in as few lines as they fit into. */
function flowing(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = [...lines.slice(-1), part].join('   ');
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/** A line across that says what time it is, and in which zone: that of all times here. */
const ruleWith = (time: string, length: number) =>
  `${time} ${'─'.repeat(Math.max(0, length))}`.slice(0, Math.max(1, length));

/** Lines of the datasets that were recorded last. Where they do not fit, it is the names that are shortened. */
function newest(datasets: readonly DatasetRows[], width: number): string[] {
  const shown = datasets
    .flatMap(({ last, ...one }) => (last === null ? [] : [{ ...one, last }]))
    .sort((one, other) => other.last.getTime() - one.last.getTime() || other.added - one.added)
    .slice(0, MOST_DATASETS)
    .map(({ dataset, rows, added, last }) => ({
      dataset,
      before: `  ${timeOfDay(last)}  `,
      rows: number.format(rows),
      added: added > 0 ? `  +${number.format(added)}` : '',
    }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const figures = widest(shown.map(({ rows }) => rows));
  const rest = widest(shown.map(({ before, added }) => before + added)) + figures + '  '.length;
  const room = Math.max(1, Math.min(widest(shown.map(({ dataset }) => dataset)), width - rest));
  return shown.map(
    ({ dataset, before, rows, added }) =>
      `${before}${shortened(dataset, room).padEnd(room)}  ${rows.padStart(figures)}${added}`,
  );
}
