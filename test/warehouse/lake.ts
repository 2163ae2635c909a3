import { DuckDBInstance } from '@duckdb/node-api';
import type postgres from 'postgres';
import { findDataset } from '../../src/datasets/catalog.ts';
import {
  selectClosedDayReadings,
  selectOf,
  selectOpenDayReadings,
  selectRowReadings,
} from '../../src/recording/readings/forms.ts';
import { packingOf } from '../../src/recording/readings/value-encoding.ts';
import type { ExportTable } from '../../src/warehouse/export-table.ts';

/** Queries DuckDB. */
export interface Duck {
  /** The rows of a statement; its columns are texts. */
  rows(sql: string): Promise<(string | null)[][]>;
  /** Runs a statement without rows. */
  run(sql: string): Promise<void>;
  close(): void;
}

/** A DuckDB in memory. */
export async function openDuck(): Promise<Duck> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await connection.run(`set TimeZone = 'UTC'`);
  return {
    async rows(sql) {
      const read = await connection.runAndReadAll(sql);
      return read.getRows().map((row) =>
        row.map((value) => {
          if (value === null || typeof value === 'string') return value;
          throw new Error(`a column of ${sql} is no text`);
        }),
      );
    },
    async run(sql) {
      await connection.run(sql);
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** SQL of DuckDB: all versions of a table by the newest export, as in docs/how-to/export.md. */
export function versionsOf(
  folder: string,
  { name, key, from }: Pick<ExportTable, 'name' | 'key' | 'from'>,
): string {
  return `(select * from read_parquet('${folder}/${name}/**/*.parquet', hive_partitioning = true, union_by_name = true)
    qualify row_number() over (partition by ${[...key, from].join(', ')} order by exported_at desc) = 1)`;
}

/** All rows of a table in DuckDB, in a comparable form. */
export async function rowsInDuck(duck: Duck, from: string, table: ExportTable): Promise<string[]> {
  const list = table.columns.map(({ name, type }) =>
    type === 'timestamptz' ? `epoch_us(${name})::varchar` : `${name}::varchar`,
  );
  const rows = await duck.rows(`select ${list.join(', ')} from ${from}`);
  return rows
    .map((row) =>
      JSON.stringify(
        row.map((value, at) =>
          // DECIMAL shows all of its decimals.
          table.columns[at]?.digits === 'decimal' ? (value?.replace(/\.?0+$/, '') ?? null) : value,
        ),
      ),
    )
    .sort();
}

/** All rows of a table in PostgreSQL, in the same form. */
export async function rowsInPostgres(
  sql: postgres.Sql,
  table: ExportTable,
  from = everyRow(table),
): Promise<string[]> {
  const list = table.columns.map(({ name, type, digits }) => {
    if (type === 'timestamptz') return `(extract(epoch from ${name}) * 1000000)::bigint::text`;
    if (digits === 'decimal') return `trim_scale(${name})::text`;
    return `${name}::text`;
  });
  const rows = await sql.unsafe<{ row: string }[]>(
    `select array_to_json(array[${list.join(', ')}]::text[])::text as row from ${from} t`,
  );
  return rows.map(({ row }) => JSON.stringify(JSON.parse(row))).sort();
}

/** SQL of PostgreSQL: every recorded row of a table. */
export function everyRow({ columns, readings, rows }: ExportTable): string {
  if (!readings) return rows;
  const names = columns.map((column) => [column.name, column.type] as const);
  const packing = packingOf(readings);
  return `(${[selectRowReadings(packing), selectOpenDayReadings(packing), selectClosedDayReadings(packing)].map((form) => selectOf(form, names)).join(' union all ')})`;
}

/** SQL of DuckDB: the rows of a table at a moment, as in docs/how-to/export.md. */
export function asOfInDuck(folder: string, table: ExportTable, at: Date): string {
  const moment = `'${at.toISOString()}'::timestamptz`;
  const ended = table.to === null ? '' : ` and (${table.to} is null or ${table.to} > ${moment})`;
  return `(select * from ${versionsOf(folder, table)} where ${table.from} <= ${moment}${ended})`;
}

/** A table with the columns that its as-of function returns. */
export function withAsOfColumns(table: ExportTable): ExportTable {
  const isKept = (name: string) =>
    name !== table.to &&
    !['vanished', 'ended_by'].includes(name) &&
    (name !== 'extra' || findDataset(table.name)?.extra !== false);
  return { ...table, columns: table.columns.filter(({ name }) => isKept(name)) };
}
