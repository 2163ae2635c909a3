import type postgres from 'postgres';
import { findDataset } from '../../src/datasets/catalog.ts';
import { requestColumns, SERIES_ID, seriesTableOf } from '../../src/datasets/target-columns.ts';
import { packingOf } from '../../src/recording/readings/value-encoding.ts';
import type { ExportColumn, ExportTable } from '../../src/warehouse/export-table.ts';

/** The largest number of 256 bits. */
export const MAX_UINT256 = (2n ** 256n - 1n).toString();
/** The largest that DECIMAL(38,0) holds. */
const MAX_DECIMAL_38 = '9'.repeat(38);

const FIRST = `'2026-11-01T22:30:00.123456Z'::timestamptz`;

/**
 * Writes rows to a table with valid values that are difficult for files: the longest numbers, microseconds, texts of
 * every kind, nulls. Each row has its own key; every third version has ended.
 * @param first the number of the first row
 */
export async function writeRows(
  sql: postgres.Sql,
  table: ExportTable,
  first: number,
  count: number,
): Promise<void> {
  const names = table.columns.map(({ name }) => name);
  const values = table.columns.map((column, at) => `${sample(table, column, at)} as ${column.name}`);
  const rows = `select ${values.join(', ')} from generate_series(${first}::int, ${first + count - 1}) i`;
  const dataset = findDataset(table.name);
  if (!dataset?.numbered) {
    await sql.unsafe(`insert into recorder.${table.name} (${names.join(', ')}) ${rows}`);
    return;
  }
  const request = requestColumns(dataset);
  const own = [SERIES_ID, ...names.filter((name) => !request.includes(name))].join(', ');
  const series = `recorder.${seriesTableOf(dataset)}`;
  await sql.unsafe(
    `insert into ${series} (${request.join(', ')}) select distinct ${request.join(', ')} from (${rows}) r on conflict do nothing`,
  );
  await sql.unsafe(
    `insert into recorder.${table.name} (${own}) select ${own} from (${rows}) r join ${series} using (${request.join(', ')})`,
  );
}

/** Readings of one poll, as the recorder packs them when their day is closed. */
export async function writeReadings(
  sql: postgres.Sql,
  table: ExportTable,
  poll: { readonly at: string; readonly run: number; readonly members: number },
): Promise<void> {
  if (!table.readings) throw new Error(`${table.name} has no readings`);
  const { request } = packingOf(table.readings);
  const requestNames = request.map(({ name }) => name);
  const values = table.columns.map(({ name, type }) => {
    if (name === 'observed_at') return `'${poll.at}'::timestamptz`;
    if (name === 'run_id') return String(poll.run);
    if (requestNames.includes(name)) return `'same'`;
    if (type === 'text') return `'member ' || i`;
    if (type === 'numeric') return `i * 1.25`;
    if (type === 'boolean') return 'i % 2 = 0';
    return 'null';
  });
  await sql.unsafe(
    `insert into recorder.${table.name} (${table.columns.map(({ name }) => name).join(', ')})
     select ${values.join(', ')} from generate_series(1, ${poll.members}) i`,
  );
}

function sample(table: ExportTable, column: ExportColumn, at: number): string {
  const { name, nullable } = column;
  const from = `${FIRST} + (i % 3) * interval '1 day' + i * interval '1 microsecond'`;
  if (name === table.from) return from;
  if (name === table.to)
    return nullable
      ? `case when i % 3 = 0 then ${from} + interval '1 hour' end`
      : `${from} + interval '1 hour'`;
  if (name === 'run_id') return '1 + i % 7';
  if (name === 'vanished') return 'false';
  const value = plain(column, at, table.key.includes(name));
  return nullable && !table.key.includes(name) ? `case when (i + ${at}) % 4 > 0 then ${value} end` : value;
}

function plain({ name, type, digits }: ExportColumn, at: number, inKey: boolean): string {
  switch (type) {
    case 'text':
      if (inKey) return `'${name} ' || i`;
      return `case (i + ${at}) % 6 when 0 then '' when 1 then 'a "quoted", one' when 2 then E'two\\r\\nlines' when 3 then 'ä€😀' when 4 then '=1+1' else i::text end`;
    case 'numeric':
      if (digits === 'wide') return `${MAX_UINT256} - i`;
      if (digits === 'decimal')
        return `case i % 3 when 0 then -i when 1 then i * 1.5 else i + 0.123456789012345678 end`;
      return `case when i % 2 = 0 then ${MAX_DECIMAL_38} - i else i end`;
    case 'bigint':
      return `9007199254740993 + i`;
    case 'boolean':
      return 'i % 2 = 0';
    case 'timestamptz':
      return `${FIRST} - i * interval '1 hour 1 microsecond'`;
    case 'jsonb':
      return `jsonb_build_object('i', i, 'exact', 12345678901234567890.120, 'none', null, 'text', E'ä\\n"')`;
    default:
      throw new Error(`${name}: no value of type ${type}`);
  }
}
