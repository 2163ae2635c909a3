import type { Snapshot } from '../db/snapshot.ts';
import type { LostRows, ManifestFile, ManifestTable } from './manifest.ts';
import type { RowSelection } from './rows-since.ts';
import { getExportStart, type Watermark } from './watermark.ts';

/** Maximum number of files of a day. A day that would have more files is written again as one file. */
const MAX_DAY_FILES = 16;

/** Input of {@link planTable}. */
export interface TableState {
  /** True: exports only rows recorded since the last export. */
  readonly incremental: boolean;
  /** The table in the manifest of the last export. */
  readonly before: ManifestTable | undefined;
  /** Paths of files that differ from their description in the manifest. */
  readonly damaged: ReadonlySet<string>;
  readonly watermark: Watermark;
  /**
   * First day of which the database contains all rows; empty if the database contains the rows of all days.
   */
  readonly kept: string;
}

/** Selection of the rows to export, and the files that stay. */
export interface TablePlan extends RowSelection {
  /**
   * Reason why an incremental export exports all rows; null if only new rows are exported, or if the export
   * is not incremental.
   */
  readonly whole: string | null;
  /** Files of earlier exports that stay valid. */
  readonly staying: readonly ManifestFile[];
  /** Number of days that had many files and are written again. */
  readonly compacted: number;
  /** Damaged files of days whose rows the database may have removed. */
  readonly lost: readonly Pick<LostRows, 'day' | 'rows'>[];
}

/**
 * Plans the export of a table. An incremental export keeps the files of days whose rows the database has
 * removed. The days of damaged files are written again, with the rows that the database still contains.
 */
export function planTable({ incremental, before, damaged, watermark, kept }: TableState): TablePlan {
  const files = before?.files ?? [];
  const nothing = { since: null, days: [], whole: null, staying: [], compacted: 0, lost: [] };
  if (!incremental) return nothing;
  const isOld = ({ day }: ManifestFile) => day < kept;
  const isWhole = ({ path }: ManifestFile) => !damaged.has(path);
  const lost = files.filter((file) => file.rows > 0 && isOld(file) && !isWhole(file));
  const old = files.filter((file) => isOld(file) && isWhole(file));
  if (!before) return { ...nothing, whole: 'it was not exported there before' };
  const from = getExportStart(before.watermark, watermark);
  if (typeof from === 'string') return { ...nothing, whole: from, staying: old, lost };
  const counts = new Map<string, number>();
  for (const { day } of files) counts.set(day, (counts.get(day) ?? 0) + 1);
  const full = [...counts]
    .filter(([day, count]) => count >= MAX_DAY_FILES && day >= kept)
    .map(([day]) => day);
  // The database may still have some rows of an old day, such as versions that are valid since then.
  const damagedDays = files.filter((file) => !isWhole(file)).map(({ day }) => day);
  const days = [...new Set([...full, ...damagedDays])];
  return {
    since: from,
    days,
    whole: null,
    staying: files.filter((file) => isWhole(file) && (isOld(file) || !days.includes(file.day))),
    compacted: full.length,
    lost,
  };
}

/**
 * Returns the start of the retention of a dataset, such as `2026-11-22`. Returns an empty text if nothing was
 * removed. Files may contain rows of earlier days that the database no longer contains.
 */
export async function readKeptSince(snapshot: Snapshot, dataset: string): Promise<string> {
  const [row] = await snapshot.rows(
    `select (kept_since at time zone 'UTC')::date::text as day from recorder.retention where dataset = '${dataset}'`,
  );
  return row ? String(row.day) : '';
}

/** Returns the numeric columns that had a value in an earlier export that fits no DECIMAL. */
export function findInexactColumns(before: ManifestTable | undefined): ReadonlySet<string> {
  const names = new Set(before?.columns.map(({ name }) => name));
  return new Set([...names].filter((name) => names.has(`${name}_exact`)));
}
