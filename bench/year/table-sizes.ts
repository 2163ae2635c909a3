import type postgres from 'postgres';

/** Size of a table on disk, in bytes. */
export interface TableSize {
  readonly table: string;
  readonly heap: number;
  readonly toast: number;
  readonly indexes: number;
}

export const bytesOf = ({ heap, toast, indexes }: TableSize) => heap + toast + indexes;

/** The recorder's tables with rows, after the work of autovacuum on each when it was written for a day. */
export async function measureTableSizes(sql: postgres.Sql): Promise<TableSize[]> {
  const written = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0`;
  for (const { name } of written) await sql.unsafe(`vacuum analyze ${name}`);
  const sizes = await sql<TableSize[]>`
    select c.relname as "table",
      (pg_table_size(c.oid) - coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float8 as heap,
      coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)::float8 as toast,
      pg_indexes_size(c.oid)::float8 as indexes
    from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0
    order by c.relname`;
  return [...sizes];
}

/** Bytes written to the write-ahead log since the server started. */
export async function walWritten(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<
    { bytes: number }[]
  >`select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as bytes`;
  return row?.bytes ?? 0;
}
