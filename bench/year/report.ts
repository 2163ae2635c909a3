import type { MomentResults } from './moments.ts';
import type { DatasetCounts } from './recording.ts';
import { bytesOf, type TableSize } from './table-sizes.ts';

/** The results: the sizes after each day, and the recorded rows. */
export interface Measurements {
  readonly days: readonly (readonly TableSize[])[];
  readonly wal: number;
  readonly datasets: Readonly<Record<string, DatasetCounts>>;
  /** Number of runs by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The tables of the health ledger after a whole year, and the number of its probes. */
  readonly ledger: readonly TableSize[];
  readonly probes: number;
  /** The queries at past moments; null: everything was kept forever. */
  readonly momentResults: MomentResults | null;
}

/** Size of a table, its growth, and the extrapolated size of a year; bytes. */
export interface Slope extends TableSize {
  readonly perDay: number;
  readonly year: number;
}

const YEAR = 365;

/**
 * The growth of each table over the last half of the days. By then rows are packed or counted at the rate at which they
 * are written, if there were enough days.
 */
export function slopesOf(days: readonly (readonly TableSize[])[]): Slope[] {
  const last = days.at(-1) ?? [];
  const middle = Math.floor((days.length - 1) / 2);
  const before = new Map(
    (days.length > 1 ? (days[middle] ?? []) : []).map((one) => [one.table, bytesOf(one)]),
  );
  const span = Math.max(days.length - 1 - middle, 1);
  return last
    .map((weight) => {
      const perDay = (bytesOf(weight) - (before.get(weight.table) ?? 0)) / span;
      return { ...weight, perDay, year: bytesOf(weight) + perDay * (YEAR - days.length) };
    })
    .sort((a, b) => b.year - a.year);
}

/** The figures for people. */
export function report({
  days,
  wal,
  datasets,
  statuses,
  ledger,
  probes,
  momentResults,
}: Measurements): string {
  const slopes = slopesOf(days);
  const total = (of: (slope: Slope) => number) => slopes.reduce((sum, slope) => sum + of(slope), 0);
  const runs = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const ledgers = ledger.reduce((sum, one) => sum + bytesOf(one), 0);
  const runBytes = slopes
    .flatMap((one) => (/^run/.test(one.table) ? [bytesOf(one)] : []))
    .reduce((a, b) => a + b, 0);
  const statusCounts = Object.entries(statuses).map(([status, count]) => `${count} ${status}`);
  const lines = [
    `${days.length} days, ${runs} runs (${statusCounts.join(', ')})`,
    '',
    table(
      ['table', 'heap MB', 'toast MB', 'indexes MB', 'kB a day', 'a year MB'],
      [
        ...slopes.map((one) => [
          one.table,
          mega(one.heap),
          mega(one.toast),
          mega(one.indexes),
          kilo(one.perDay),
          mega(one.year),
        ]),
        [
          'all',
          mega(total(({ heap }) => heap)),
          mega(total(({ toast }) => toast)),
          mega(total(({ indexes }) => indexes)),
          kilo(total(({ perDay }) => perDay)),
          mega(total(({ year }) => year)),
        ],
      ],
    ),
    '',
    table(
      ['dataset', 'runs', 'that wrote', 'rows', 'bytes a row'],
      Object.entries(datasets).map(([name, { runs, wrote, rows }]) => {
        const own = slopes.find(({ table }) => table === name);
        return [name, runs, wrote, rows, own && rows > 0 ? (bytesOf(own) / rows).toFixed(1) : '–'].map(
          String,
        );
      }),
    ),
    '',
    `WAL: ${mega(wal / days.length)} MB a day`,
    `runs: ${(runBytes / runs).toFixed(1)} bytes each`,
    probes === 0
      ? 'no health ledger'
      : `health ledger, a whole year written: ${mega(ledgers)} MB, ${(ledgers / probes).toFixed(4)} bytes a probe`,
    ...(momentResults ? retentionLines(days, momentResults) : []),
    `all of a year: ${mega(total(({ year }) => year) + ledgers)} MB`,
  ];
  return lines.join('\n');
}

/** The size while the oldest days were removed, and the results at past moments. */
function retentionLines(
  days: Measurements['days'],
  { equal, different, refused, answered }: NonNullable<Measurements['momentResults']>,
): string[] {
  const after = days.flatMap((weights, at) => {
    const [changes, others] = [true, false].map((isFeed) =>
      weights
        .filter(({ table }) => (table === 'changes') === isFeed)
        .reduce((sum, one) => sum + bytesOf(one), 0),
    );
    return (at + 1) % 30 === 0 || at === days.length - 1
      ? [`${at + 1}: ${mega(others ?? 0)} and ${mega(changes ?? 0)}`]
      : [];
  });
  return [
    `MB by days, and the change feed: ${after.join('; ')}`,
    `queries at past moments: ${equal} unchanged, ${different.length} different, ${refused} refused before the kept range, ${answered.length} answered there`,
    ...[...different, ...answered].slice(0, 20),
  ];
}

const mega = (bytes: number) => (bytes / 1e6).toFixed(1);
const kilo = (bytes: number) => (bytes / 1e3).toFixed(0);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
