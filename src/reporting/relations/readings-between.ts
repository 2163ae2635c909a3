import type postgres from 'postgres';
import type { DatasetRelations } from './catalogue.ts';
import type { DifferencesPage, DifferencesQuery } from './differences.ts';
import { type Row, readRows } from './rows.ts';
import { versionsOf } from './versions.ts';

/**
 * Reads the readings between two moments. For a dataset of readings, these are the differences between the
 * moments. A reading never changes, and its time is part of its key, so no values are compared.
 * @throws PostgresError 22023 if there is no record at the first moment
 */
export async function readingsBetween(
  sql: postgres.Sql,
  dataset: DatasetRelations,
  { from, to, filters, ...query }: DifferencesQuery,
): Promise<DifferencesPage> {
  const { now, begins } = dataset;
  await sql`select reporting_internal.has_record(${dataset.name}, ${from}::text::timestamptz)`;
  const { rows, next } = await readRows(sql, now, {
    ...query,
    columns: now.columns,
    filters: [
      ...filters,
      { column: begins, type: 'timestamptz', operator: 'gt', value: from },
      // PostgreSQL parses `now` as the current time.
      { column: begins, type: 'timestamptz', operator: 'lte', value: to ?? 'now' },
    ],
    asOf: null,
    args: {},
  });
  const { content } = versionsOf(dataset);
  const of = (row: Row, columns: readonly { readonly name: string }[]): Row =>
    Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
  return {
    rows: rows.map((row) => ({
      change: 'added' as const,
      key: of(row, now.key),
      before: null,
      after: of(row, content),
      differs: [],
    })),
    next,
  };
}
