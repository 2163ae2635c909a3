import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Dataset, Target } from '../datasets/contract.ts';
import { refusesRows, storeByBisection } from '../db/bisect-insert.ts';
import { ormOf } from '../db/orm.ts';
import { quarantine, runs, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { parseJson } from '../upstreams/json.ts';
import type { ActiveFeed } from './active-feed.ts';
import { claimRun, leaseKey } from './claim-run.ts';
import type { RunEnd } from './commit.ts';
import { compileFeed } from './compiled-feed.ts';
import type { RecordingContext } from './context.ts';
import { CONTRADICTION_REASON } from './decode.ts';
import { keyColumns } from './histories/batch.ts';
import type { EncodedRow } from './histories/rows.ts';
import { canRetire } from './proof.ts';
import { SeenRows } from './seen-rows.ts';
import { targetKey } from './target-key.ts';

/** The result of decoding the quarantine again. */
export interface RedriveResult {
  readonly released: number;
  readonly rowsWritten: number;
  /** Items that still cannot be decoded or stored, or whose dataset is no longer recorded. */
  readonly kept: number;
  /** Targets that another run held. */
  readonly held: number;
}

/**
 * Quarantined items of one response. The items themselves are loaded batch by batch, because all together may
 * not fit into memory.
 */
type QuarantineBatch = {
  readonly dataset: string;
  readonly target: Target;
  readonly observed_at: Date;
  readonly ids: string[];
};

/**
 * An item that can now be decoded, with its id in the quarantine. An item that is already recorded, or is
 * outdated, has no rows.
 */
interface Decodable {
  readonly id: number;
  readonly rows: readonly EncodedRow[];
}

/**
 * Decodes quarantined items again, without querying the upstream. Items that can now be decoded are recorded
 * with the time of their observation and leave the quarantine in the same commit. Newer rows stay unchanged.
 * Members and points that a newer observation did not confirm are not recorded, because the end of their
 * validity is unknown. Items that PostgreSQL still rejects stay in the quarantine, and so do contradicting
 * items, which a new decoder cannot fix.
 */
export async function redrive(
  context: RecordingContext,
  feeds: readonly ActiveFeed[],
): Promise<RedriveResult> {
  const { sql } = context;
  const batches = await ormOf(sql).execute<QuarantineBatch>(expression`
    select q.dataset, t.target, q.observed_at, array_agg(q.id::text order by q.id) as ids
    from ${quarantine} q
    join ${targetDatasets} d using (dataset, target_key)
    join ${targets} t using (source, target_key)
    where q.reason <> ${CONTRADICTION_REASON}
    group by q.dataset, t.target, q.observed_at order by q.observed_at`);
  const totals = { released: 0, rowsWritten: 0, kept: 0, held: 0 };
  for (const batch of batches) {
    const feed = feeds.find(({ datasets }) => datasets.some(({ name }) => name === batch.dataset));
    const result = feed ? await redriveBatch(context, feed, batch) : null;
    totals.released += result?.released ?? 0;
    totals.rowsWritten += result?.rowsWritten ?? 0;
    totals.kept += batch.ids.length - (result?.released ?? 0);
    totals.held += feed && !result ? 1 : 0;
  }
  return totals;
}

async function redriveBatch(context: RecordingContext, feed: ActiveFeed, batch: QuarantineBatch) {
  const { sql, commits, clock, worker } = context;
  const at = feed.datasets.findIndex(({ name }) => name === batch.dataset);
  const dataset = feed.datasets[at];
  if (!dataset) return null;
  const items = await ormOf(sql).execute<{ id: string; item: string }>(expression`
    select id, item from ${quarantine} where id = any(${expression.param(batch.ids)}::bigint[]) order by id`);
  const compiled = compileFeed(feed);
  const decoder = compiled.decoders[at];
  if (!decoder) return null;
  const about = { target: batch.target, now: clock() };
  const seenRows = new SeenRows();
  const decoded = items.flatMap(({ id, item }): Decodable[] => {
    const result = decodeItem(item, (value) => decoder.items([value], about, seenRows));
    return result?.refused.length === 0 && result.consistent
      ? [{ id: Number(id), rows: result.rows.map(({ row }) => row) }]
      : [];
  });
  if (decoded.length === 0) return { released: 0, rowsWritten: 0 };
  const recordedAt = new Date(clock()).toISOString();
  const runId = await claimRun(
    sql,
    feed,
    { target: batch.target, window: null, reason: 'redrive' },
    worker,
    recordedAt,
  );
  if (typeof runId === 'string') return null;
  const past = canRetire(feed, at)
    ? await findOutdated(sql, dataset, batch.target, decoded)
    : new Set<number>();
  const decodable = decoded.map(({ id, rows }): Decodable => ({ id, rows: past.has(id) ? [] : rows }));
  let rowsWritten = 0;
  const commit = async (some: readonly Decodable[], end: RunEnd | null) => {
    const rows = some.flatMap((one) => one.rows);
    const committed = await compiled.commit(commits, {
      target: batch.target,
      targetKey: targetKey(batch.target),
      runId,
      observedAt: batch.observed_at.toISOString(),
      recordedAt,
      late: true,
      shouldLookUp: true,
      batches: feed.datasets.map((_, index) => ({
        rows: index === at ? rows : [],
        quarantinedKeys: [],
        absence: null,
      })),
      covered: feed.datasets.map(() => null),
      answered: null,
      shownFrom: null,
      indexProgress: null,
      gaps: feed.datasets.map(() => null),
      quarantined: [],
      released: some.map(({ id }) => id),
      pages: 0,
      items: feed.datasets.map((_, index) => (index === at ? some.length : 0)),
      requests: 0,
      units: 0,
      window: null,
      note: null,
      updatesFreshness: false,
      isSweep: false,
      plannedAt: null,
      end,
    });
    rowsWritten += committed.rowsWritten.reduce((sum, count) => sum + count, 0);
  };
  const end: RunEnd = {
    outcome: 'done',
    error: null,
    upstreamQueried: false,
    incomplete: feed.datasets.map(() => null),
  };
  try {
    await commit(decodable, end);
    return { released: decodable.length, rowsWritten };
  } catch (error) {
    if (!refusesRows(error)) throw error;
    const alone = await storeByBisection(decodable, (some) => commit(some, null));
    await commit([], end);
    return { released: decodable.length - alone.length, rowsWritten };
  }
}

/**
 * Returns the ids of quarantined members and points that are outdated. An item is outdated if a poll
 * requested the item again after the last run that received the item. A member is also outdated if the
 * recording of its list ended or started again after that run. Runs of a target are sequential, so that a run
 * that ended later started later. If the run was already aggregated by day, the time at which the item was
 * last seen replaces the end of the run.
 */
async function findOutdated(
  sql: postgres.Sql,
  dataset: Dataset,
  target: Target,
  items: readonly Decodable[],
): Promise<ReadonlySet<number>> {
  const { source } = dataset;
  // A poll of a range is evidence only about the points of its window.
  const place = source.range && keyColumns(dataset).at(-1)?.index;
  const places = items.map(({ rows: [row] }) => (place === undefined ? null : (row?.[place] ?? null)));
  const rows = await ormOf(sql).execute<{ id: string }>(expression`
    select distinct q.id from unnest(${expression.param(items.map(({ id }) => id))}::bigint[], ${expression.param(places)}::timestamptz[]) as i(id, place)
    join ${quarantine} q using (id)
    join ${targets} t on t.source = ${source.name} and t.target_key = ${leaseKey(source, target)}
    join ${targetDatasets} d on d.source = t.source and d.dataset = q.dataset and d.target_key in (q.target_key, t.target_key)
    left join ${runs} r on r.run_id = q.run_id
    where greatest(d.last_success_at, case when ${dataset.history === 'state'} then greatest(d.ended_at, d.requested_since) end)
        > coalesce(r.finished_at, q.last_seen)
      and (i.place is null or extract(epoch from i.place) * 1000 between t.poll_from and t.poll_to - 1)`);
  return new Set(rows.map(({ id }) => Number(id)));
}

/**
 * Decodes an item. Returns null if the item was truncated or is not JSON, so that the item stays in the
 * quarantine.
 */
function decodeItem<T>(item: string, decode: (value: unknown) => T): T | null {
  try {
    return decode(parseJson(item));
  } catch {
    return null;
  }
}
