import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import type { Feed } from '../datasets/catalog.ts';
import type { Target, Window } from '../datasets/contract.ts';
import type { Priority } from '../upstreams/budget.ts';

/** A run that shows no sign of life for so long loses its target to whoever asks next. */
export const LEASE_SECONDS = 6;

/**
 * Why a run was made: `poll` by schedule; `heal` for a hole; `sweep` to see late revisions of what is covered;
 * `backfill` and `manual` because someone asked; `redrive` to decode again what was quarantined.
 */
export type Reason = 'poll' | 'heal' | 'sweep' | 'backfill' | 'manual' | 'redrive';

/** Who is served first by the budget. */
export const priorityOf: Readonly<Record<Reason, Priority>> = {
  poll: 'poll',
  manual: 'poll',
  redrive: 'poll',
  heal: 'heal',
  sweep: 'heal',
  backfill: 'backfill',
};

/** What a run is about. */
export interface Job {
  readonly target: Target;
  /** Null: an observation of now. */
  readonly window: Window | null;
  readonly reason: Reason;
  /** When it was planned, in ms since 1970; a target that was recorded since needs it no more. Absent: whatever was. */
  readonly plannedAt?: number;
}

/** What a target is asked with may be long (many addresses in one question); an index entry may not. */
const LONGEST_VALUE = 200;

/** The name of a target in the database, the same for the same target whatever the order of its keys. */
export function targetKey(target: Target): string {
  return Object.keys(target)
    .sort()
    .map((key) => `${key}=${shortened(target[key] ?? '')}`)
    .join(' ');
}

function shortened(value: string): string {
  if (value.length <= LONGEST_VALUE) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}

/**
 * Begins a run: takes the target's lease if it is free or has run out, ends the run that lost it, and writes the new
 * run, in one statement.
 * @returns the run's id; `held` when another run has the target; `outdated` when one did the job since it was planned
 */
export async function claim(
  sql: postgres.Sql,
  { source, datasets }: Feed,
  job: Job,
  worker: string,
  startedAt: string,
): Promise<number | 'held' | 'outdated'> {
  const key = targetKey(job.target);
  const plannedAt = job.plannedAt === undefined ? null : new Date(job.plannedAt).toISOString();
  const [row] = await sql<{ run_id: string }[]>`
    with held as materialized (
      insert into recorder.targets as t (source, target_key, target, datasets, every_ms, run_id, lease_until)
      values (${source.name}, ${key}, ${JSON.stringify(job.target)}::text::jsonb,
        ${datasets.map(({ name }) => name)}::text[], ${source.every},
        nextval(pg_get_serial_sequence('recorder.runs', 'run_id')), now() + make_interval(secs => ${LEASE_SECONDS}))
      on conflict (source, target_key) do update set run_id = excluded.run_id, lease_until = excluded.lease_until
      where (t.run_id is null or t.lease_until is null or t.lease_until < now())
        and (${plannedAt}::timestamptz is null or t.last_success_at is null or t.last_success_at <= ${plannedAt}
          or t.last_success_at > ${startedAt})
      returning run_id
    ), lost as (
      update recorder.runs set status = 'lost', finished_at = ${startedAt},
        error = 'the worker showed no sign of life and its lease ran out'
      from held where source = ${source.name} and target_key = ${key} and status = 'running' returning 1
    )
    insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, axis, window_from,
      window_to,
      started_at, items, rows_written)
    select run_id, ${source.name}, ${key}, ${datasets.map(({ name }) => name)}::text[], ${job.reason}, 'running',
      ${worker}, ${job.window ? (source.range?.axis ?? null) : null}, ${job.window?.from ?? null}, ${job.window?.to ?? null}, ${startedAt},
      ${datasets.map(() => 0)}::bigint[], ${datasets.map(() => 0)}::bigint[]
    from held returning run_id`;
  if (row) return Number(row.run_id);
  const [state] = await sql<{ outdated: boolean }[]>`
    select coalesce(last_success_at > ${plannedAt}::timestamptz, false) as outdated from recorder.targets
    where source = ${source.name} and target_key = ${key}`;
  return state?.outdated ? 'outdated' : 'held';
}

/** Keeps a run's lease while it waits for its upstream. @returns false once the lease went to another run */
export async function keepLease(
  sql: postgres.Sql,
  source: string,
  key: string,
  runId: number,
): Promise<boolean> {
  const rows = await sql`
    update recorder.targets set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where source = ${source} and target_key = ${key} and run_id = ${runId} returning 1`;
  return rows.length === 1;
}
