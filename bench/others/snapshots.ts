import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import copyStreams from 'pg-copy-streams';
import type postgres from 'postgres';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import type { Duck } from '../../test/warehouse/lake.ts';

/** SQL: the times of the list's polls, and the values of all members then. */
const POLL_TIMES_SQL = `select distinct observed_at from reporting.validator_uptime order by 1`;

/**
 * Stores the result of every poll, one row a member and poll, as a naive history. It is copied from the recorder's
 * rows, so that both hold the same.
 * @returns the number of rows
 */
export async function fillSnapshots(sql: postgres.Sql): Promise<number> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = 'reporting.node_validators'::regclass and attnum > 0
      and not attisdropped and attname not in ('valid_from', 'run_id') order by attnum`;
  const list = columns.map(({ name }) => `v.${name}`).join(', ');
  const selectRows = `select $1::timestamptz as observed_at, ${list}, u.uptime, u.connected from reporting.node_validators_as_of($1) v
    join reporting.validator_uptime u on u.observed_at = $1 and u.node_id = v.node_id and u.node = v.node`;
  await sql.unsafe('create schema if not exists bench');
  let rows = 0;
  for (const [at, { observed_at: moment }] of (
    await sql.unsafe<{ observed_at: Date }[]>(POLL_TIMES_SQL)
  ).entries()) {
    const first = selectRows.replaceAll('$1', `'${moment.toISOString()}'::timestamptz`);
    if (at === 0) await sql.unsafe(`create table bench.snapshots as ${first} with no data`);
    rows += (await sql.unsafe(`insert into bench.snapshots ${selectRows}`, [moment])).count;
  }
  // Indexes by poll and by member.
  await sql`alter table bench.snapshots add primary key (observed_at, node, node_id)`;
  await sql`create index on bench.snapshots (node_id, observed_at)`;
  await sql`vacuum analyze bench.snapshots`;
  return rows;
}

/** Writes the same rows as files of Parquet, one a day, sorted by member and time, as they compress best. */
export async function fillParquet(
  { url, sql }: { readonly url: string; readonly sql: postgres.Sql },
  duck: Duck,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const days = await sql<{ day: string }[]>`
    select distinct (observed_at at time zone 'UTC')::date::text as day from bench.snapshots order by 1`;
  for (const { day } of days) {
    const text = `${folder}/${day}.csv`;
    const rows = `select * from bench.snapshots where (observed_at at time zone 'UTC')::date = '${day}' order by node_id, observed_at`;
    await onOwnConnection(url, { TimeZone: 'UTC' }, signal, (client) =>
      pipeline(
        client.query(copyStreams.to(`copy (${rows}) to stdout with (format csv, header)`)),
        createWriteStream(text),
      ),
    );
    await duck.run(
      `copy (select * from read_csv('${text}', header = true)) to '${folder}/${day}.parquet' (format parquet, compression zstd)`,
    );
    await rm(text);
  }
}
