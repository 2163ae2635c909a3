import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { ormOf } from '../db/orm.ts';
import { schedules, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { DEFAULT_RECORDER } from './jobs.ts';
import type { ScheduleState } from './schedules.ts';

/**
 * Stores the states of the schedules in the database, for readers without access to the queue. Other stored
 * schedules of the recorder are deleted, and those of recorders without active targets, such as a renamed or
 * removed one, so that they are not reported as missing.
 */
export async function storeSchedules(
  sql: postgres.Sql,
  recorder: string,
  states: readonly ScheduleState[],
  now: number,
): Promise<void> {
  const names = states.map(({ schedule }) =>
    recorder === DEFAULT_RECORDER ? schedule : `${schedule} of ${recorder}`,
  );
  const at = new Date(now).toISOString();
  await ormOf(sql).execute(expression`
    with deleted as (
      delete from ${schedules} s
      where case when s.recorder = ${recorder} then not s.schedule = any(${expression.param(names)}::text[]) else not exists (
        select from ${targetDatasets} d join ${targets} t using (source, target_key)
        where d.active and t.recorder = s.recorder) end)
    insert into ${schedules} as s (recorder, schedule, every_ms, next_at, missing_since, seen_at)
    select ${recorder}, u.schedule, u.every_ms, to_timestamp(u.next / 1000.0), case when u.next is null then ${at}::timestamptz end, ${at}
    from unnest(${expression.param(names)}::text[], ${expression.param(states.map(({ every }) => every))}::bigint[],
      ${expression.param(states.map(({ next }) => next))}::bigint[])
      as u(schedule, every_ms, next)
    on conflict (schedule) do update set every_ms = excluded.every_ms, next_at = excluded.next_at, seen_at = excluded.seen_at,
      missing_since = case when excluded.next_at is null then coalesce(s.missing_since, excluded.seen_at) end`);
}
