import type { Target } from '../datasets/contract.ts';
import { refusesRows, storeByHalves } from '../db/halving.ts';
import type { Row } from '../history/rows.ts';
import { noRows } from '../history/writing.ts';
import { parseJson } from '../upstreams/json.ts';
import type { ActiveFeed } from './active-feed.ts';
import type { End } from './commit.ts';
import { compileFeed } from './compiled-feed.ts';
import type { RecordingContext } from './context.ts';
import { type ByKey, CONTRADICTS } from './decode.ts';
import { claim } from './lease.ts';
import { targetKey } from './target-key.ts';

/** The result of decoding the quarantine again. */
export interface Redriven {
  readonly released: number;
  readonly rowsWritten: number;
  /** Items that still cannot be decoded or stored, or whose dataset is not recorded any more. */
  readonly kept: number;
  /** Targets that another run held. */
  readonly held: number;
}

/** What was quarantined of one answer. Its items are read when it is its turn: all of them together may be more than fits. */
interface Batch {
  readonly dataset: string;
  readonly target: Target;
  readonly observed_at: Date;
  readonly ids: string[];
}

/** An item that decodes now, with its place in the quarantine; one that is known already has no row. */
interface Decodable {
  readonly id: number;
  readonly rows: readonly Row[];
}

/**
 * Decodes quarantined items again, without asking the upstream. Items that decode now are recorded with the time of their
 * observation and leave the quarantine in the same commit. Where something newer is recorded, they change nothing. Items
 * that PostgreSQL still refuses stay, and so do items that contradict another one: a new decoder does not help them.
 */
export async function redrive(context: RecordingContext, feeds: readonly ActiveFeed[]): Promise<Redriven> {
  const { sql } = context;
  const batches = await sql<Batch[]>`
    select q.dataset, t.target, q.observed_at, array_agg(q.id::text order by q.id) as ids
    from recorder.quarantine q
    join recorder.target_datasets d using (dataset, target_key)
    join recorder.targets t using (source, target_key)
    where q.reason <> ${CONTRADICTS}
    group by q.dataset, t.target, q.observed_at order by q.observed_at`;
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

async function redriveBatch(context: RecordingContext, feed: ActiveFeed, batch: Batch) {
  const { sql, bulk, clock, worker } = context;
  const at = feed.datasets.findIndex(({ name }) => name === batch.dataset);
  const dataset = feed.datasets[at];
  if (!dataset) return null;
  const items = await sql<{ id: string; item: string }[]>`
    select id, item from recorder.quarantine where id = any(${batch.ids}::bigint[]) order by id`;
  const compiled = compileFeed(feed);
  const decoder = compiled.decoders[at];
  if (!decoder) return null;
  const byKey: ByKey = new Map<string, unknown>();
  const decoded = items.flatMap(({ id, item }): Decodable[] => {
    const result = decodable(item, (value) => decoder.items([value], byKey));
    return result?.refused.length === 0 && result.consistent ? [{ id: Number(id), rows: result.rows }] : [];
  });
  if (decoded.length === 0) return { released: 0, rowsWritten: 0 };
  const recordedAt = new Date(clock()).toISOString();
  const runId = await claim(
    sql,
    feed,
    { target: batch.target, window: null, reason: 'redrive' },
    worker,
    recordedAt,
  );
  if (typeof runId === 'string') return null;
  let rowsWritten = 0;
  const commit = async (some: readonly Decodable[], end: End | null) => {
    const rows = feed.datasets.map(noRows);
    for (const row of some.flatMap((one) => one.rows)) rows[at]?.add(row);
    const committed = await compiled.commit(bulk, {
      target: batch.target,
      targetKey: targetKey(batch.target),
      runId,
      observedAt: batch.observed_at.toISOString(),
      recordedAt,
      late: true,
      looksUp: true,
      batches: rows.map((its) => ({ rows: its, retire: null })),
      covered: feed.datasets.map(() => null),
      gaps: feed.datasets.map(() => null),
      quarantined: [],
      released: some.map(({ id }) => id),
      pages: 0,
      items: feed.datasets.map((_, index) => (index === at ? some.length : 0)),
      requests: 0,
      units: 0,
      window: null,
      note: null,
      aboutNow: false,
      plannedAt: null,
      end,
    });
    rowsWritten += committed.rowsWritten.reduce((sum, count) => sum + count, 0);
  };
  const end: End = { outcome: 'done', error: null, asked: false, incomplete: feed.datasets.map(() => null) };
  try {
    await commit(decoded, end);
    return { released: decoded.length, rowsWritten };
  } catch (error) {
    if (!refusesRows(error)) throw error;
    const alone = await storeByHalves(decoded, (some) => commit(some, null));
    await commit([], end);
    return { released: decoded.length - alone.length, rowsWritten };
  }
}

/** Decodes an item; null when it was cut or is no JSON, so that it stays in the quarantine. */
function decodable<T>(item: string, decode: (value: unknown) => T): T | null {
  try {
    return decode(parseJson(item));
  } catch {
    return null;
  }
}
