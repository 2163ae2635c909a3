import type postgres from 'postgres';

/** Size of a table on disk, in bytes. */
export interface Weight {
  readonly table: string;
  readonly heap: number;
  readonly toast: number;
  readonly indexes: number;
}

export const bytesOf = ({ heap, toast, indexes }: Weight) => heap + toast + indexes;

/** The recorder's tables with rows, after the work of autovacuum on each when it was written for a day. */
export async function weigh(sql: postgres.Sql): Promise<Weight[]> {
  const written = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0`;
  for (const { name } of written) await sql.unsafe(`vacuum analyze ${name}`);
  const weights = await sql<Weight[]>`
    select c.relname as "table",
      (pg_table_size(c.oid) - coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float8 as heap,
      coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)::float8 as toast,
      pg_indexes_size(c.oid)::float8 as indexes
    from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0
    order by c.relname`;
  return [...weights];
}

/** Bytes written to the write-ahead log since the server started. */
export async function walWritten(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<
    { bytes: number }[]
  >`select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as bytes`;
  return row?.bytes ?? 0;
}
