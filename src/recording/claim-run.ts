import { and, eq, sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Source, Target } from '../datasets/contract.ts';
import { leaseEnd } from '../db/leases.ts';
import { ormOf, tableText } from '../db/orm.ts';
import { runs, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed } from './active-feed.ts';
import type { Job } from './job.ts';
import { targetKey } from './target-key.ts';

/**
 * Error of a run whose lease expired and that another run ended. The error is stored for a dataset of a
 * target only if no other run failed since the last success.
 */
export const LEASE_EXPIRED_ERROR = 'the worker stopped responding and its lease expired';

/** Returns the target whose row holds the lease for the rows of a target. This may be the target itself. */
const holderOf = (source: Source, target: Target): Target => source.rowsOf?.(target) ?? target;

/** Returns the key under which the lease for the rows of a target is stored. */
export const leaseKey = (source: Source, target: Target): string => targetKey(holderOf(source, target));

/**
 * Starts a run: acquires the lease of the target if the lease is free or expired, ends the run whose lease
 * expired, and inserts the new run, in one statement.
 * @param feed with the datasets that the run records
 * @returns the id of the run; `held` if another run has the lease; `outdated` if the target was recorded
 * since the job was planned
 */
export async function claimRun(
  sql: postgres.Sql,
  { source, datasets }: ActiveFeed,
  job: Job,
  worker: string,
  startedAt: string,
): Promise<number | 'held' | 'outdated'> {
  const key = targetKey(job.target);
  const holder = holderOf(source, job.target);
  const lease = targetKey(holder);
  const { plannedAt: planned, reason } = job;
  const plannedAt = planned === undefined || reason !== 'poll' ? null : new Date(planned).toISOString();
  const names = datasets.map(({ name }) => name);
  // A clock that is ahead must not hide that a target is late.
  const claimedAt = expression`least(${startedAt}::timestamptz, now())`;
  // A success in the future was written by a clock that was ahead, and does not count.
  const orm = ormOf(sql);
  const stillDue = expression`(${plannedAt}::timestamptz is null or exists (
    select from unnest(${expression.param(names)}::text[]) as requested(dataset) where not exists (
      select from ${targetDatasets} d
      where d.source = ${source.name} and d.target_key = ${key} and d.dataset = requested.dataset
        and d.last_success_at > ${plannedAt} and d.last_success_at <= ${startedAt})))`;
  // A process that has not noticed yet that its configuration is outdated must not record targets that were
  // removed.
  const scheduled = job.reason === 'poll' || job.reason === 'heal' || job.reason === 'sweep';
  const stillRequested = expression`(not ${scheduled} or exists (select from unnest(${expression.param(names)}::text[]) as requested(dataset)
    where not exists (select from ${targetDatasets} d where d.source = ${source.name} and d.target_key = ${key}
      and d.dataset = requested.dataset and d.left_at is not null)))`;
  const [row] = await orm.execute<{ run_id: string }>(expression`
    with before as materialized (
      select run_id from ${targets} where source = ${source.name} and target_key = ${lease}
    ), claimed as materialized (
      insert into ${targets} as t (source, target_key, target, run_id, lease_until)
      values (${source.name}, ${lease}, ${JSON.stringify(holder)}::text::jsonb,
        nextval(pg_get_serial_sequence(${tableText(runs)}, 'run_id')), ${leaseEnd})
      on conflict (source, target_key) do update set run_id = excluded.run_id, lease_until = excluded.lease_until
      where (t.run_id is null or t.lease_until is null or t.lease_until < now()
          -- A lease that ends later than a new one was set before the clock was set back.
          or t.lease_until > ${leaseEnd})
        and ${stillDue} and ${stillRequested}
      returning run_id
    ), own as (
      insert into ${targets} (source, target_key, target)
      select ${source.name}, ${key}, ${JSON.stringify(job.target)}::text::jsonb from claimed where ${key}::text <> ${lease}::text
      on conflict do nothing
    ), known as (
      -- A manually requested target is not in the configuration, so that it is not active and cannot be late.
      insert into ${targetDatasets} (source, target_key, dataset, every_ms, active, requested_since)
      select ${source.name}, ${key}, u.dataset, u.every_ms, false, ${claimedAt}
      from claimed, unnest(${expression.param(names)}::text[], ${expression.param(datasets.map(({ every }) => every))}::bigint[]) as u(dataset, every_ms)
      on conflict do nothing
    ), lost as (
      update ${runs} set status = 'lost', finished_at = ${claimedAt}, error = ${LEASE_EXPIRED_ERROR}
      from claimed where status = 'running' and (source = ${source.name} and target_key = ${key}
        or runs.run_id = (select run_id from before)) returning runs.target_key, datasets
    ), failed as (
      -- A target whose runs crash their workers counts as failing.
      update ${targetDatasets} d set failures = d.failures + 1, last_failure_at = ${claimedAt},
        last_error = case when d.failures = 0 then ${LEASE_EXPIRED_ERROR} else d.last_error end
      from lost where d.source = ${source.name} and d.target_key = lost.target_key and d.dataset = any(lost.datasets)
    )
    insert into ${runs} (run_id, source, target_key, datasets, reason, status, worker, axis, window_from,
      window_to,
      started_at, items, rows_written)
    select run_id, ${source.name}, ${key}, ${expression.param(names)}::text[], ${job.reason}, 'running',
      ${worker}, ${job.window ? (source.range?.axis ?? null) : null}, ${job.window?.from ?? null}, ${job.window?.to ?? null}, ${claimedAt},
      ${expression.param(datasets.map(() => 0))}::bigint[], ${expression.param(datasets.map(() => 0))}::bigint[]
    from claimed returning run_id`);
  if (row) return Number(row.run_id);
  const [state] = await orm.execute<{ is_current: boolean }>(
    expression`select ${stillDue} and ${stillRequested} as is_current`,
  );
  return state?.is_current ? 'held' : 'outdated';
}

/**
 * Renews the lease of a run while the run waits for its upstream.
 * @returns false if another run has acquired the lease
 */
export async function renewLease(
  sql: postgres.Sql,
  source: string,
  key: string,
  runId: number,
): Promise<boolean> {
  const rows = await ormOf(sql)
    .update(targets)
    .set({ lease_until: leaseEnd })
    .where(and(eq(targets.source, source), eq(targets.target_key, key), eq(targets.run_id, runId)))
    .returning({ run: targets.run_id });
  return rows.length === 1;
}
