import { catalog } from '../datasets/catalog.ts';
import { seriesTableOf } from '../datasets/target-columns.ts';
import type { Snapshot } from '../db/snapshot.ts';
import type { ExportColumn, ExportTable } from './export-table.ts';
import type { Manifest } from './manifest.ts';
import { hasSeal } from './record-seals.ts';

/**
 * Tables that a restore needs besides the rows of datasets: targets, coverage, runs, seals and the uptime
 * ledger. Rows of the ledger may be removed temporarily, so the ledger is exported completely each time.
 */
export const bookkeepingTables: readonly string[] = [
  ...[
    'targets',
    'target_datasets',
    'node_bindings',
    'coverage',
    'gaps',
    'quarantine',
    'configurations',
    'budgets',
    'retention',
  ],
  ...['runs', 'run_days'],
  ...['node_health', 'health_absences'],
  ...['health_observers', 'health_probes', 'health_latency', 'health_maintenance', 'incident_notes'],
  ...['discrepancies', 'series_breaks', 'check_runs'],
  ...['alerts', 'alert_messages', 'alert_channels', 'alert_rules', 'alert_rounds'],
  ...['seals', 'seal_datasets', 'seal_forms', 'seal_changes', 'seal_parts'],
];

/** Tables that are not exported: state of running processes, and objects that belong to this database. */
export const excludedTables: readonly string[] = [
  ...['processes', 'queues', 'schedules', 'replicas', 'exports'],
  ...['own_objects', 'reporting_objects'],
  // Derived from the rows.
  ...['contradictions', 'contradictions_noted', 'metric_settling'],
  // Files contain the values behind a series id; a restore assigns new ids.
  ...catalog.flatMap((dataset) => (dataset.numbered ? [seriesTableOf(dataset)] : [])),
  // The change feed numbers the commits of this database and uses internal ids of readings, so the feed starts
  // again after a restore.
  ...['changes', 'change_sinks'],
];

/** Storage formats of readings besides rows. Readings of every format are exported as rows. */
export const readingTables: readonly string[] = [
  ...[
    'reading_scopes',
    'reading_members',
    'reading_open',
    'reading_observations',
    'reading_days',
    'reading_kept',
  ],
];

/** SQL of the number of the newest finished seal. */
const NEWEST_SEAL = '(select coalesce(max(seal), 0) from recorder.seals where made_at is not null)';
/**
 * SQL conditions on the exported rows, by table. An unfinished seal is excluded, because it is created again
 * after a restore.
 */
const ROW_FILTERS: Readonly<Record<string, string>> = {
  seals: 'made_at is not null',
  seal_datasets: `seal <= ${NEWEST_SEAL}`,
  seal_parts: `seal <= ${NEWEST_SEAL}`,
};

/** A table of {@link bookkeepingTables} and its current rows: every value is PostgreSQL's text. */
export interface BookkeepingTable {
  readonly table: ExportTable;
  /**
   * SQL of the rows: the columns in their order, then a constant date, because `writeTable` requires a day.
   */
  readonly select: string;
}

/**
 * Returns a bookkeeping table and the SQL of its rows.
 * @param after number of a seal: rows of `seal_parts` are limited to later seals
 */
export async function bookkeepingTable(
  snapshot: Snapshot,
  name: string,
  after: number,
): Promise<BookkeepingTable> {
  const rows = await snapshot.rows(
    `select attname as name from pg_attribute
     where attrelid = 'recorder.${name}'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  const columns = rows.map((row): ExportColumn => ({ name: String(row.name), type: 'text', nullable: true }));
  const list = columns.map(({ name: column }) =>
    name === 'seal_changes' && column === 'seal'
      ? `(case when seal <= ${NEWEST_SEAL} then seal end)::text`
      : `"${column}"::text`,
  );
  const only = [ROW_FILTERS[name] ?? 'true', ...(name === 'seal_parts' ? [`seal > ${after}`] : [])].join(
    ' and ',
  );
  return {
    table: {
      name,
      relation: name,
      dataset: '',
      kind: 'bookkeeping',
      key: [],
      from: '',
      to: null,
      columns,
      readings: null,
      rows: `recorder.${name}`,
    },
    select: `select ${list.join(', ')}, '2000-01-01'::date from recorder.${name} where ${only}`,
  };
}

/** SQL of the identity and serial columns of {@link bookkeepingTables}: "table", "column", sequence. */
export const sequenceColumns = `
  select c.relname as "table", a.attname as "column", pg_get_serial_sequence(format('recorder.%I', c.relname), a.attname) as sequence
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    and c.relname in (${bookkeepingTables.map((name) => `'${name}'`).join(', ')})
    and pg_get_serial_sequence(format('recorder.%I', c.relname), a.attname) is not null order by 1, 2`;

/** Returns the last sequence value of each identity or serial column, by `table.column`. */
export async function readSequenceValues(snapshot: Snapshot): Promise<Record<string, string>> {
  const numbers: Record<string, string> = {};
  for (const { table, column, sequence } of await snapshot.rows(sequenceColumns)) {
    const [row] = await snapshot.rows(
      `select last_value::text as last from ${String(sequence)} where is_called`,
    );
    if (row) numbers[`${String(table)}.${String(column)}`] = String(row.last);
  }
  return numbers;
}

/** Returns the number of migrations of the database. */
export async function countMigrations(snapshot: Snapshot): Promise<number> {
  const [row] = await snapshot.rows('select count(*)::int as migrations from drizzle.__drizzle_migrations');
  return Number(row?.migrations);
}

/** Maximum number of files of seal parts. If there are more, all parts are written again. */
const MAX_PART_FILES = 64;

/**
 * Returns the files of seal parts that are still valid. These are the files of the last export, if the
 * database contains the newest seal of that export.
 */
export async function findValidParts(
  snapshot: Snapshot,
  last: Manifest['bookkeeping'],
): Promise<{ readonly after: number; readonly files: readonly BookkeepingFile[] }> {
  const none = { after: 0, files: [] };
  const files = last?.tables.seal_parts?.files ?? [];
  if (!last?.seal || files.length >= MAX_PART_FILES) return none;
  return (await hasSeal(snapshot, last.seal)) ? { after: last.seal.seal, files } : none;
}

type BookkeepingFile = NonNullable<Manifest['bookkeeping']>['tables'][string]['files'][number];
