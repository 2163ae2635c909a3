import type postgres from 'postgres';
import type { ReadableDataset } from './catalogue.ts';
import type { DifferencesPage, DifferencesQuestion } from './differences.ts';
import { type Row, readRows } from './rows.ts';
import { versionsOf } from './versions.ts';

/**
 * What is different of readings at two moments: those that were taken in between. A reading never changes, and its instant is part
 * of its key, so that nothing has to be compared.
 * @throws PostgresError 22023 when there is no record at the first moment
 */
export async function readingsBetween(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  { from, to, filters, ...question }: DifferencesQuestion,
): Promise<DifferencesPage> {
  const { now, begins } = dataset;
  await sql`select reporting.has_record(${dataset.name}, ${from}::text::timestamptz)`;
  const { rows, next } = await readRows(sql, now, {
    ...question,
    columns: now.columns,
    filters: [
      ...filters,
      { column: begins, operator: 'gt', value: from },
      // PostgreSQL reads `now` as this moment.
      { column: begins, operator: 'lte', value: to ?? 'now' },
    ],
    asOf: null,
    given: {},
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
