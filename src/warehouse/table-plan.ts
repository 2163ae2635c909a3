import type { Snapshot } from '../db/snapshot.ts';
import type { LostRows, ManifestFile, ManifestTable } from './manifest.ts';
import type { Wanted } from './rows-since.ts';
import { since, type Watermark } from './watermark.ts';

/** A day that would have more files than this is written again, as one file. */
const FILES_OF_DAY = 16;

/** Input of {@link planTable}. */
export interface TableState {
  /** Only what was recorded since the last export is wanted. */
  readonly incremental: boolean;
  /** The table in the manifest of the last export. */
  readonly before: ManifestTable | undefined;
  /** Paths of its files that are not as the manifest describes them. */
  readonly damaged: ReadonlySet<string>;
  readonly watermark: Watermark;
  /** The first day of which the database has all rows; empty: it has all. */
  readonly kept: string;
}

/** What is exported of a table, and which files stay. */
export interface TablePlan extends Wanted {
  /** Why all of it is exported although only the newest was asked for; null: it is not, or it was asked for. */
  readonly whole: string | null;
  /** The files of earlier exports that still count. */
  readonly staying: readonly ManifestFile[];
  /** Days that had many files and are written again. */
  readonly compacted: number;
  /** Damaged files whose rows the database does not have any more. */
  readonly lost: readonly Pick<LostRows, 'day' | 'rows'>[];
}

/**
 * Plans the export of a table. An incremental one keeps the days of which the database does not have all rows any more, and writes
 * the days of damaged files again.
 */
export function planTable({ incremental, before, damaged, watermark, kept }: TableState): TablePlan {
  const files = before?.files ?? [];
  const nothing = { since: null, days: [], whole: null, staying: [], compacted: 0, lost: [] };
  if (!incremental) return nothing;
  const isOld = ({ day }: ManifestFile) => day < kept;
  const isWhole = ({ path }: ManifestFile) => !damaged.has(path);
  const lost = files.filter((file) => isOld(file) && !isWhole(file));
  const old = files.filter((file) => isOld(file) && isWhole(file));
  if (!before) return { ...nothing, whole: 'it was not exported there before' };
  const from = since(before.watermark, watermark);
  if (typeof from === 'string') return { ...nothing, whole: from, staying: old, lost };
  const counts = new Map<string, number>();
  for (const { day } of files) counts.set(day, (counts.get(day) ?? 0) + 1);
  const full = [...counts].filter(([day, count]) => count >= FILES_OF_DAY && day >= kept).map(([day]) => day);
  const damagedDays = files.filter((file) => !isOld(file) && !isWhole(file)).map(({ day }) => day);
  const days = [...new Set([...full, ...damagedDays])];
  return {
    since: from,
    days,
    whole: null,
    staying: files.filter((file) => isWhole(file) && !days.includes(file.day)),
    compacted: full.length,
    lost,
  };
}

/**
 * Returns the day from which on a dataset is kept, such as `2026-11-22`, or an empty text. Files may have rows of earlier days that
 * the database does not have any more.
 */
export async function keptSince(snapshot: Snapshot, dataset: string): Promise<string> {
  const [row] = await snapshot.rows(
    `select (kept_since at time zone 'UTC')::date::text as day from recorder.retention where dataset = '${dataset}'`,
  );
  return row ? String(row.day) : '';
}

/** Returns the columns of numbers of which an earlier export has a value that fits no DECIMAL. */
export function inexactOf(before: ManifestTable | undefined): ReadonlySet<string> {
  const names = new Set(before?.columns.map(({ name }) => name));
  return new Set([...names].filter((name) => names.has(`${name}_exact`)));
}
