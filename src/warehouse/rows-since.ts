import {
  selectClosedDayReadings,
  selectOf,
  selectOpenDayReadings,
  selectRowReadings,
} from '../recording/readings/forms.ts';
import { packingOf } from '../recording/readings/value-encoding.ts';
import type { ExportColumn, ExportTable } from './export-table.ts';

/** Selection of the rows to export. */
export interface RowSelection {
  /** Start of the written or changed rows (`since` of watermark.ts); null: all rows. */
  readonly since: { readonly xid: string; readonly runs: string } | null;
  /** Days whose rows are all exported, whenever they were written, such as `2026-11-22`. */
  readonly days: readonly string[];
}

/** Name of the last column of {@link selectRowsSince}. */
const DAY = 'day of version';

/**
 * Returns SQL of the selected rows of a table, by day, key and instant. The columns are in their order, then
 * the day as `date`. Instants are microseconds since 1970.
 * Changed rows are found by `xmin`, the id of the transaction that wrote the row last. PostgreSQL sets `xmin`
 * on every change, such as the end of a version. There is no index on `xmin`, so the whole table is read.
 */
export function selectRowsSince(table: ExportTable, selection: RowSelection): string {
  const names = table.columns.map(({ name, type }) => [name, type] as const);
  const key = table.columns.filter(({ name }) => table.key.includes(name)).map(sorted);
  const list = table.columns.map(selected).join(', ');
  return `select ${list}, "${DAY}" from (
    select (t.${table.from} at time zone 'UTC')::date as "${DAY}", t.* from (${forms(table, names, selection).join('\nunion all\n')}) t
  ) t order by "${DAY}", ${[...key, `t.${table.from}`].join(', ')}`;
}

function forms(
  { rows, readings, from }: ExportTable,
  names: readonly (readonly [name: string, type: string])[],
  selection: RowSelection,
): string[] {
  if (!readings)
    return [
      `select ${names.map(([column]) => `r.${column}`).join(', ')} from ${rows} r where ${selectionCondition('r', from, selection)}`,
    ];
  const packing = packingOf(readings);
  // Closing a day writes its observations again. Observations of runs that had ended were already exported while
  // the day was open.
  const ended =
    selection.since === null ? '' : ` and not l.run_id <@ '${selection.since.runs}'::int8multirange`;
  return [
    selectRowReadings(packing, selectionCondition('r', from, selection)),
    selectOpenDayReadings(packing, selectionCondition('l', from, selection)),
    selectClosedDayReadings(packing, selectionCondition('l', from, selection, ended)),
  ].map((form) => selectOf(form, names));
}

function selectionCondition(row: string, from: string, { since, days }: RowSelection, more = ''): string {
  if (since === null) return 'true';
  // Compares ages, because 32-bit transaction ids wrap around after 2^32.
  const low = BigInt(since.xid) % 2n ** 32n;
  const written = `(age(${row}.xmin) <= (select age('${low < 3n ? 3n : low}'::xid))${more})`;
  const ofDays = days.map(
    (day) =>
      `(${row}.${from} >= '${day}T00:00:00Z'::timestamptz and ${row}.${from} < '${day}T00:00:00Z'::timestamptz + interval '24 hours')`,
  );
  return `(${[written, ...ofDays].join(' or ')})`;
}

/**
 * Returns SQL of a column for sorting. Texts are sorted by their bytes, as engines compare texts in files.
 */
const sorted = ({ name, type }: ExportColumn) => (type === 'text' ? `t.${name} collate "C"` : `t.${name}`);

const selected = ({ name, type }: ExportColumn) =>
  type === 'timestamptz' ? `(extract(epoch from t.${name}) * 1000000)::bigint` : `t.${name}`;
