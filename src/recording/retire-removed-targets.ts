import { and, eq, sql as expression, isNotNull } from 'drizzle-orm';
import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import { findDataset } from '../datasets/catalog.ts';
import type { Dataset, Target } from '../datasets/contract.ts';
import { LEASE_SECONDS } from '../db/leases.ts';
import { ormOf, tableText } from '../db/orm.ts';
import { runs, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { LeaseLostError } from '../lib/errors.ts';
import { withDefaultSettings } from './active-feed.ts';
import { claimRun } from './claim-run.ts';
import type { Registrant } from './configuration.ts';
import type { RecordingContext } from './context.ts';
import { changeEventsSql, changeRecordingCtes, keyList } from './histories/changes.ts';
import { targetKey } from './target-key.ts';

/** Maximum number of targets per round. */
const MAX_TARGETS_PER_ROUND = 50;
/**
 * Maximum number of members that one statement ends, so that the statement takes no longer than the commit of
 * a page.
 */
const MAX_MEMBERS_PER_STATEMENT = 5_000;

type RemovedTarget = {
  readonly dataset: string;
  readonly target: Target;
  readonly target_key: string;
};

/**
 * Ends the members of targets that were removed from the configuration, because they are no longer observed.
 * Each target is ended by its own run, under its lease, and logged once. A target that another run holds is
 * retried in the next round.
 */
export async function retireRemovedTargets(
  context: RecordingContext,
  { recorder }: Registrant,
  log: Log,
): Promise<void> {
  const { sql } = context;
  const removedTargets = await ormOf(sql).execute<RemovedTarget>(expression`
    select d.dataset, d.target_key, t.target from ${targetDatasets} d
    join ${targets} t using (source, target_key)
    where not d.active and d.left_at is not null and d.ended_at is null and t.recorder = ${recorder}
    order by d.left_at limit ${MAX_TARGETS_PER_ROUND}`);
  for (const { dataset: name, target, target_key } of removedTargets) {
    const dataset = findDataset(name);
    const members =
      dataset?.history === 'state'
        ? await endMembers(context, dataset, target)
        : await markEnded(sql, name, target_key);
    if (members !== null)
      log.info(
        { dataset: name, target: target_key, members },
        'the target is no longer configured: its rows were ended',
      );
  }
}

/** Marks a target as ended without changing rows, because only lists have members to end. */
async function markEnded(sql: postgres.Sql, dataset: string, key: string): Promise<number> {
  await ormOf(sql)
    .update(targetDatasets)
    .set({ ended_at: expression`now()` })
    .where(
      and(
        eq(targetDatasets.dataset, dataset),
        eq(targetDatasets.target_key, key),
        isNotNull(targetDatasets.left_at),
      ),
    );
  return 0;
}

/**
 * Returns the number of ended members. Returns null if another run holds or has already ended the target, or
 * if the target is registered again.
 */
async function endMembers(
  { sql, clock, worker }: RecordingContext,
  dataset: Dataset,
  target: Target,
): Promise<number | null> {
  const feed = withDefaultSettings({ source: dataset.source, datasets: [dataset] }, [target]);
  const now = new Date(clock()).toISOString();
  const runId = await claimRun(sql, feed, { target, window: null, reason: 'unwatched' }, worker, now);
  if (typeof runId === 'string') return null;
  for (let members = 0; ; ) {
    const [row] = await sql.unsafe<{ needless: boolean; ended: number; rest: boolean }[]>(
      endMembersSql(dataset),
      [
        dataset.source.name,
        targetKey(target),
        runId,
        dataset.name,
        now,
        JSON.stringify(Object.fromEntries(dataset.request.map((key) => [key, target[key] ?? '']))),
        ...dataset.request.map((key) => target[key] ?? ''),
      ],
    );
    if (!row) throw new LeaseLostError(dataset.source.name, targetKey(target));
    members += row.ended;
    if (row.needless) return null;
    if (!row.rest) return members;
  }
}

/**
 * Builds the statement that ends some members of a target under its lease, and ends the run together with the
 * last of them. The statement locks the target before its dataset, as all other statements do. Members that
 * also belong to another active target, and rows that were recorded manually, are not ended.
 */
function endMembersSql(dataset: Dataset): string {
  const { name, request, columns } = dataset;
  const scope = request.map((key, at) => `o.${columns[at]?.name ?? key} = $${at + 7}`).join(' and ');
  return `
    with own as materialized (
      select from ${tableText(targets)} where source = $1 and target_key = $2 and run_id = $3 for update
    ), left_now as materialized (
      select d.left_at is null or d.ended_at is not null as needless from own, ${tableText(targetDatasets)} d
      where d.source = $1 and d.target_key = $2 and d.dataset = $4 for update of d
    ), shared as materialized (
      select from ${tableText(targetDatasets)} d join ${tableText(targets)} t using (source, target_key)
      where d.dataset = $4 and d.active and t.target @> $6::text::jsonb limit 1
    ), members as materialized (
      select o.ctid as place from recorder.${name} o
      where ${scope} and o.valid_to is null and not exists (select from shared) and not exists (
        select from ${tableText(runs)} r join ${tableText(targetDatasets)} h using (source, target_key)
        where r.run_id = o.run_id and h.dataset = $4 and not h.active and h.left_at is null)
      limit ${MAX_MEMBERS_PER_STATEMENT}
    ), fence as materialized (
      update ${tableText(targets)} t set run_id = case when m.rest and not l.needless then t.run_id end,
        lease_until = case when m.rest and not l.needless then clock_timestamp() + interval '${LEASE_SECONDS} seconds' end
      from left_now l, (select count(*) = ${MAX_MEMBERS_PER_STATEMENT} as rest from members) m
      where t.source = $1 and t.target_key = $2 and t.run_id = $3
      returning $3::bigint as run_id, l.needless, m.rest
    ), ended as (
      update recorder.${name} o
      set valid_to = greatest($5::timestamptz, o.valid_from + interval '1 microsecond'), ended_by = 'unwatched'
      from fence, members where o.ctid = members.place and o.valid_to is null and not fence.needless
      returning ${keyList(dataset, 'o')}o.valid_from as begins
    ), settled as (
      -- A target that is configured again has no current members, so it is polled at once.
      update ${tableText(targetDatasets)} d
      set ended_at = now(), last_success_at = null, last_planned_at = null, last_complete_at = null from fence
      where d.source = $1 and d.target_key = $2 and d.dataset = $4 and not fence.rest and not fence.needless returning 1
    ), run as (
      update ${tableText(runs)} r set rows_written = array[r.rows_written[1] + (select count(*) from ended)],
        status = case when fence.rest and not fence.needless then r.status else 'done' end,
        finished_at = case when fence.rest and not fence.needless then null else $5::timestamptz end
      from fence where r.run_id = fence.run_id returning 1
    ), ${changeRecordingCtes({
      events: [
        {
          dataset: name,
          request: `array[${request.map((_, at) => `$${at + 7}`).join(', ')}]::text[]`,
          sql: changeEventsSql(
            dataset,
            `select ${keyList(dataset, 'n')}n.begins, 'u' as kind from ended n`,
            '$5::timestamptz',
          ),
        },
      ],
      runId: '$3',
      recordedAt: '$5::timestamptz',
      observedAt: '$5::timestamptz',
      after: ['settled', 'run'],
    }).join(', ')}
    select needless, rest, (select count(*) from ended)::int as ended from fence`;
}
