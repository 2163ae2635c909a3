import { styleText } from 'node:util';
import { formatLocalTime, formatTimeOfDay } from '../lib/local-time.ts';
import { escapeUnsafeText } from '../lib/safe-text.ts';
import { truncateText } from '../lib/truncate-text.ts';
import { describeFinding, type FindingGroup } from '../reporting/reports/findings.ts';

/** State of the recording for the live summary of `up`. */
export interface Summary {
  /** Time of the query. */
  readonly now: Date;
  readonly network: string;
  /** URL of the pages; null if this process has no server. */
  readonly address: string | null;
  readonly datasets: readonly DatasetRows[];
  readonly targets: number;
  readonly findings: readonly FindingGroup[];
  /** Rows per second over the last window; null if the rate is not known yet. */
  readonly rate: number | null;
  /** Error of the database; null if it responded. */
  readonly databaseError: string | null;
}

/** Row counts of a dataset. */
export interface DatasetRows {
  readonly dataset: string;
  /** True if probes are counted instead of rows. */
  readonly isProbed: boolean;
  readonly rows: number;
  /** Number of rows written today (UTC), as on the pages. */
  readonly today: number;
  /** Rows added since the process started. */
  readonly added: number;
  readonly last: Date | null;
}

const MAX_DATASETS = 6;
const MAX_FINDINGS = 4;
/**
 * Maximum length of the horizontal rule, in characters. A longer line would wrap when the terminal is made
 * narrower.
 */
const MAX_RULE_LENGTH = 40;
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/**
 * Returns the lines of the live summary: recorded rows, their rate, the newest datasets, and findings.
 * @param width maximum length of a line, in characters
 * @param height number of lines of the terminal; the summary uses at most half of these lines
 */
export function summaryLines(summary: Summary, width: number, height: number): string[] {
  const { now, network, address, datasets, targets, findings, rate, databaseError } = summary;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: process.stderr });
  const cut = (text: string) => truncateText(escapeUnsafeText(text), Math.max(1, width - 1));
  const rows = datasets.reduce((sum, one) => sum + one.today, 0);
  const speed = rate === null ? [] : [`${number.format(rate)} rows/s`];
  const where = [network, ...(address === null ? [] : [address]), 'Ctrl-C stops'];
  const figures = [
    `${datasets.length} datasets`,
    `${targets} targets`,
    `${number.format(rows)} rows today`,
    ...speed,
  ];
  const rule = style(
    'dim',
    ruleWith(formatLocalTime(now).slice('2026-11-22 '.length), Math.min(MAX_RULE_LENGTH, width - 1)),
  );
  const headOf = (room: number) => [
    rule,
    ...joinIntoLines(where, room).map((line) => style('bold', cut(line))),
    ...joinIntoLines(figures, room).map(cut),
  ];
  const wrong =
    databaseError === null
      ? findings
          .slice(0, MAX_FINDINGS)
          .map((one) => style('yellow', cut(describeFinding(one, formatTimeOfDay))))
      : [style('red', cut(`the database does not respond: ${databaseError}`))];
  const more = findings.length - MAX_FINDINGS;
  const others = more > 0 ? [style('yellow', cut(`and ${more} more: chain-recorder status`))] : [];
  const fine =
    databaseError === null && findings.length === 0 ? [style('green', cut('nothing is late'))] : [];
  const bottom = [...wrong, ...others, ...fine];
  const most = Math.floor(height / 2);
  const flowed = headOf(width - 1);
  // If there are too few lines, the head is cut to the width instead of wrapped.
  const head = flowed.length + bottom.length <= most ? flowed : headOf(Number.POSITIVE_INFINITY);
  const room = Math.max(0, most - head.length - bottom.length);
  return [
    ...head,
    ...newest(datasets, width - 1)
      .slice(0, Math.min(room, MAX_DATASETS))
      .map(cut),
    ...bottom,
  ];
}

/** Joins parts into as few lines as possible. */
function joinIntoLines(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = [...lines.slice(-1), part].join('   ');
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/**
 * Returns a horizontal rule that starts with the time and its zone, which applies to all times of the
 * summary.
 */
const ruleWith = (time: string, length: number) =>
  `${time} ${'─'.repeat(Math.max(0, length))}`.slice(0, Math.max(1, length));

/**
 * Returns the lines of the most recently recorded datasets. If the lines do not fit, the names are shortened.
 */
function newest(datasets: readonly DatasetRows[], width: number): string[] {
  const listed = datasets
    .flatMap(({ last, ...one }) => (last === null ? [] : [{ ...one, last }]))
    .sort((one, other) => other.last.getTime() - one.last.getTime() || other.added - one.added)
    .slice(0, MAX_DATASETS)
    .map(({ dataset, rows, added, last, isProbed }) => ({
      dataset,
      before: `  ${formatTimeOfDay(last)}  `,
      rows: number.format(rows),
      added: `${added > 0 ? `  +${number.format(added)}` : ''}${isProbed ? ' probes' : ''}`,
    }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const figures = widest(listed.map(({ rows }) => rows));
  const rest = widest(listed.map(({ before, added }) => before + added)) + figures + '  '.length;
  const room = Math.max(1, Math.min(widest(listed.map(({ dataset }) => dataset)), width - rest));
  return listed.map(
    ({ dataset, before, rows, added }) =>
      `${before}${truncateText(dataset, room).padEnd(room)}  ${rows.padStart(figures)}${added}`,
  );
}
