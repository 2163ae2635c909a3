import { z } from 'zod';
import { tableText } from '../db/orm.ts';
import { packedRuns, runs } from '../db/schema/bookkeeping.ts';
import type { Snapshot } from '../db/snapshot.ts';

/**
 * Up to where an export saw the record. Every transaction with a number below `xid` had ended when the export read; a row
 * that was written or changed later carries a higher number. What some transactions above it wrote was seen as well, and is
 * exported again.
 */
export const watermark = z.object({
  xid: z.string().regex(/^\d{1,19}$/),
  /** By the clock of the database. ISO 8601, to the microsecond. */
  at: z.string(),
  /** Which database: numbers of transactions mean nothing in another one, nor beyond a promotion. */
  system: z.string(),
  timeline: z.number(),
  database: z.number(),
  /** When the server was started. */
  started: z.string(),
  /** Runs that had ended, whose readings are all exported: an `int8multirange` as text. */
  runs: z.string().regex(/^\{[\d[\](),]*\}$/),
});

export type Watermark = z.infer<typeof watermark>;

/** The numbers of this many runs before the newest one are looked at one by one. */
const RECENT_RUNS = 10_000;

/**
 * What a server that crashed had not written down, it may number again: the number of a transaction that ended without a
 * trace. After a restart so many numbers count as later ones.
 */
const REUSED = 65_536n;

/** Numbers of rows are 32 bits wide; two that are further apart than this cannot be compared any more. */
const COMPARABLE = 2_000_000_000n;

const READ = `
  with newest as (
    select coalesce(greatest((select max(run_id) from ${tableText(runs)}), (select max(last_run) from ${tableText(packedRuns)})), 0) as run
  ), ended as (
    select coalesce(range_agg(r), '{}') as runs from (
      select int8range(null, greatest(run - ${RECENT_RUNS}, 0), '(]') as r from newest
      union all
      select int8range(run_id, run_id + 1) from ${tableText(runs)}, newest where status <> 'running' and run_id > run - ${RECENT_RUNS}
    ) ranges
  ), under_way as (
    select coalesce(range_agg(int8range(run_id, run_id + 1)), '{}') as runs from ${tableText(runs)} where status = 'running'
  )
  select pg_snapshot_xmin(pg_current_snapshot())::text as xid,
    to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    (select system_identifier::text from pg_control_system()) as system,
    case when pg_is_in_recovery()
      then coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()))
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
    (select oid::int8::float8 from pg_database where datname = current_database()) as database,
    to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as started,
    ((select runs from ended) - (select runs from under_way))::text as runs`;

/** Where a snapshot stands. */
export async function readWatermark(snapshot: Snapshot): Promise<Watermark> {
  const [row] = await snapshot.rows(READ);
  return watermark.parse(row);
}

/** From where on an export takes what was recorded; a text: why it takes all of it. */
export function since(last: Watermark, now: Watermark): { xid: string; runs: string } | string {
  if (last.system !== now.system || last.database !== now.database)
    return 'the last export read another database';
  if (last.timeline !== now.timeline)
    return 'another server was promoted since, or the database was restored';
  const from = last.started === now.started ? BigInt(last.xid) : BigInt(last.xid) - REUSED;
  // As where the folder of the server was put back from a copy.
  if (BigInt(now.xid) < from) return 'the database was set back to before the last export';
  if (BigInt(now.xid) - from > COMPARABLE) return 'there were too many transactions since';
  return { xid: String(from < 3n ? 3n : from), runs: last.runs };
}
