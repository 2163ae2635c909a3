import { z } from 'zod';
import { tableText } from '../db/orm.ts';
import { runs } from '../db/schema/bookkeeping.ts';
import type { Snapshot } from '../db/snapshot.ts';

/**
 * Position in the transaction history up to which an export is complete. Every transaction with an id below
 * `xid` had ended when the export read the data. Rows that were written or changed later have a higher id.
 * Some transactions above `xid` were already visible; their rows are exported again.
 */
export const watermark = z.object({
  xid: z.string().regex(/^\d{1,19}$/),
  /** Time by the clock of the database. ISO 8601, in microseconds. */
  at: z.string(),
  /**
   * Identity of the database. Transaction ids cannot be compared with the ids of another database, nor after
   * a promotion.
   */
  system: z.string(),
  timeline: z.number(),
  database: z.number(),
  /** Start time of the server. */
  started: z.string(),
  /** Finished runs, whose readings are all exported: an `int8multirange` as text. */
  runs: z.string().regex(/^\{[\d[\](),]*\}$/),
});

export type Watermark = z.infer<typeof watermark>;

/** Number of the newest runs that are checked individually. */
const RECENT_RUNS = 10_000;

/**
 * Number of transaction ids that a crashed server may assign again: ids of transactions that are not in the
 * WAL. After a restart, this many ids are treated as later ids.
 */
const MAX_REUSED_IDS = 65_536n;

/** Maximum distance of comparable transaction ids, which are 32 bits wide in rows. */
const MAX_ID_DISTANCE = 2_000_000_000n;

const READ_QUERY = `
  with newest as (
    select coalesce(max(run_id), 0) as run from ${tableText(runs)}
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

/** Reads the watermark of a snapshot. */
export async function readWatermark(snapshot: Snapshot): Promise<Watermark> {
  const [row] = await snapshot.rows(READ_QUERY);
  return watermark.parse(row);
}

/**
 * Returns the start of an incremental export. Returns a text with the reason if all rows must be exported.
 */
export function getExportStart(last: Watermark, now: Watermark): { xid: string; runs: string } | string {
  if (last.system !== now.system || last.database !== now.database)
    return 'the last export read another database';
  if (last.timeline !== now.timeline)
    return 'another server was promoted since, or the database was restored';
  const from = last.started === now.started ? BigInt(last.xid) : BigInt(last.xid) - MAX_REUSED_IDS;
  // The data directory was restored from a copy, for example.
  if (BigInt(now.xid) < from) return 'the database was set back to before the last export';
  if (BigInt(now.xid) - from > MAX_ID_DISTANCE) return 'there were too many transactions since';
  return { xid: String(from < 3n ? 3n : from), runs: last.runs };
}
