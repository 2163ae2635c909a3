import type postgres from 'postgres';
import type { Dataset } from '../datasets/contract.ts';
import { readEarlierClock } from '../db/clock-skew.ts';
import { packingOf, regclassSql } from '../recording/readings/value-encoding.ts';
import { removeUnreadMembers } from '../recording/unread-members.ts';
import {
  type RemovalRule,
  type RetentionTarget,
  readingsIn,
  retainable,
  scopesOf,
} from './retention-rules.ts';

const DAY = 86_400_000;
/** Number of pages of a table, 8 kB each, that one statement scans: about ten thousand rows. */
const PAGES_PER_STATEMENT = 1_024;
/** Number of days of readings of a scope that one statement removes. */
const DAYS_PER_STATEMENT = 16;

/** The retention of each dataset, of `runs` and of `quarantine`, in ms, by name. */
export type Retention = Readonly<Partial<Record<string, number>>>;

/** The number of rows removed from a dataset. */
export interface RemovalResult {
  readonly dataset: string;
  readonly keptSince: Date;
  readonly removed: number;
}

/**
 * Returns the start of the kept range, in ms since 1970. The start is a midnight (UTC), so that it moves once
 * a day.
 * @param now in ms since 1970
 * @param keep the retention, in ms
 */
export const computeKeptSince = (now: number, keep: number): number => Math.floor((now - keep) / DAY) * DAY;

/**
 * Removes rows older than their retention, a bounded part of a table per statement. First stores the start of
 * the kept range and declares the removal for `verify`, so that queries about earlier times report the new
 * start even during the removal. The work can be stopped or killed between and within statements; the next
 * call continues. Rows that a run inserts meanwhile are not removed.
 * @param now in ms since 1970; if the time of the database is earlier, the kept range is computed from that
 * time
 * @param signal stops the work between two statements
 * @returns the number of rows that this call removed, by dataset
 */
export async function retain(
  sql: postgres.Sql,
  retention: Retention,
  now: number,
  signal: AbortSignal,
): Promise<RemovalResult[]> {
  const results: RemovalResult[] = [];
  const earlier = await readEarlierClock(sql, now);
  for (const one of retainable) {
    const keep = retention[one.name];
    if (keep === undefined || signal.aborted) continue;
    const since = await moveRetentionStart(sql, one, computeKeptSince(earlier, keep), now);
    if (since === null) continue;
    let removed = 0;
    for (const step of stepsOf(one)) removed += await step(sql, one.name, since, now, signal);
    if (one.readings) await removeUnreadMembers(sql, one.readings, now, signal);
    if (signal.aborted) break;
    await sql`
      update recorder.retention set finished_at = ${new Date(now)} where dataset = ${one.name} and kept_since = ${since}`;
    results.push({ dataset: one.name, keptSince: since, removed });
  }
  return results;
}

/**
 * Moves the start of the kept range, and declares the removal of sealed rows.
 * @returns the start; null if all rows before the start are already removed
 */
async function moveRetentionStart(
  sql: postgres.Sql,
  { name, sealed }: RetentionTarget,
  since: number,
  now: number,
): Promise<Date | null> {
  const begin = new Date(since);
  const at = new Date(now);
  await sql`
    with moved as (
      insert into recorder.retention as r (dataset, kept_since, moved_at) values (${name}, ${begin}, ${at})
      on conflict (dataset) do update set kept_since = excluded.kept_since, moved_at = excluded.moved_at, finished_at = null
      where r.kept_since < excluded.kept_since returning 1
    )
    insert into recorder.seal_changes (dataset, kind, reason, before_at, declared_at)
    select u.name, 'removed', ${`retention: removal of data before ${begin.toISOString().slice(0, 10)}`}, ${begin}, ${at}
    from moved, unnest(${[...sealed]}::text[]) as u(name)
    where exists (select from recorder.seal_datasets d where d.dataset = u.name)`;
  const [row] = await sql<{ kept_since: Date; finished_at: Date | null }[]>`
    select kept_since, finished_at from recorder.retention where dataset = ${name}`;
  return row && row.finished_at === null ? row.kept_since : null;
}

type Step = (
  sql: postgres.Sql,
  name: string,
  since: Date,
  now: number,
  signal: AbortSignal,
) => Promise<number>;

const stepsOf = ({ removals, readings }: RetentionTarget): Step[] => [
  ...removals.map(
    (one): Step =>
      (sql, ...rest) =>
        removeRows(sql, one, ...rest),
  ),
  ...(readings
    ? [
        ((sql, name, since, now, signal) =>
          removeDays(sql, readings, name, since, now, signal)) satisfies Step,
      ]
    : []),
];

/**
 * Returns SQL that adds to the count of removed rows, in the statement that removes them. $2 is the name, $3
 * the time.
 */
const counting = (sum: string) => `counted as (
    update recorder.retention k set removed = k.removed + c.removed, removed_at = $3
    from (${sum}) c where k.dataset = $2 and c.removed > 0 returning 1)`;

/**
 * Removes rows of a table. The table is scanned page by page, so that no index is needed and no page is read
 * twice. Rows that other transactions have locked are skipped until the next call, so that there is no
 * deadlock.
 */
async function removeRows(
  sql: postgres.Sql,
  { table, where, ctes }: RemovalRule,
  name: string,
  since: Date,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const text = `
    with ${ctes ? `${ctes}, ` : ''}old as materialized (
      select r.ctid as place from recorder.${table} r where r.ctid >= $4::tid and r.ctid < $5::tid and ${where}
      for update of r skip locked
    ), deleted as (
      delete from recorder.${table} r where r.ctid = any(array(select place from old)) returning 1
    ), ${counting('select count(*) as removed from deleted')}
    select count(*)::float8 as removed from deleted`;
  const [size] = await sql<{ pages: number }[]>`
    select (pg_relation_size(${`recorder.${table}`}::regclass) / current_setting('block_size')::int)::float8 as pages`;
  let removed = 0;
  for (let page = 0; page < (size?.pages ?? 0) && !signal.aborted; page += PAGES_PER_STATEMENT) {
    const [row] = await sql.unsafe<{ removed: number }[]>(text, [
      since,
      name,
      new Date(now),
      `(${page},0)`,
      `(${page + PAGES_PER_STATEMENT},0)`,
    ]);
    removed += row?.removed ?? 0;
  }
  return removed;
}

/**
 * Removes closed days of readings, and observations of days that could not be closed. A day and its
 * observations are removed in one statement.
 */
async function removeDays(
  sql: postgres.Sql,
  dataset: Dataset,
  name: string,
  since: Date,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const ofDays = 'l.scope_id = o.scope_id and l.day = o.day';
  const text = `
    with old as materialized (
      select distinct l.scope_id, l.day from recorder.reading_observations l where l.scope_id in ${scopesOf(dataset)} and l.observed_at < $1
      limit ${DAYS_PER_STATEMENT}
    ), deleted as (
      delete from recorder.reading_days d using old o
      where d.scope_id = o.scope_id and d.day = o.day returning ${readingsIn(dataset)} as counts
    ), deleted_observations as (
      delete from recorder.reading_observations l using old o
      where ${ofDays} and l.observed_at >= o.day::timestamp at time zone 'UTC' and l.observed_at < (o.day + 1)::timestamp at time zone 'UTC'
      returning 1
    ), deleted_kept as (
      delete from recorder.reading_kept l using old o where ${ofDays} returning 1
    ), ${counting('select coalesce(sum(counts), 0)::bigint as removed from deleted')}
    select (select count(*) from old)::int as days, coalesce(sum(counts), 0)::float8 as removed from deleted`;
  let removed = 0;
  while (!signal.aborted) {
    const [row] = await sql.unsafe<{ days: number; removed: number }[]>(text, [since, name, new Date(now)]);
    removed += row?.removed ?? 0;
    if ((row?.days ?? 0) < DAYS_PER_STATEMENT) break;
  }
  const [open] = await sql.unsafe<{ removed: number }[]>(
    `with deleted as (
      delete from recorder.reading_open l where l.dataset = ${regclassSql(packingOf(dataset))} and l.observed_at < $1
      returning bit_count(l.present) as counts
    ), ${counting('select coalesce(sum(counts), 0)::bigint as removed from deleted')}
    select coalesce(sum(counts), 0)::float8 as removed from deleted`,
    [since, name, new Date(now)],
  );
  return removed + (open?.removed ?? 0);
}

/** The rows that a retention would remove, and the number already removed. */
export interface RetentionPlan {
  readonly dataset: string;
  /** Retention, in ms; null if the retention is no longer configured. */
  readonly keep: number | null;
  /** Start of the kept range; null if nothing was removed yet. */
  readonly keptSince: Date | null;
  /** The start of the kept range after the next call; null if the retention is no longer configured. */
  readonly next: Date | null;
  /**
   * The number of rows and readings to remove. For the ledger a lower bound, because some rows can be removed
   * only after others.
   */
  readonly going: number;
  /** The total number of rows and readings removed so far. */
  readonly removed: number;
}

/**
 * Returns the rows that each retention would remove now. Reads whole tables and writes nothing.
 * @param now in ms since 1970
 */
export async function planRetention(
  sql: postgres.Sql,
  retention: Retention,
  now: number,
): Promise<RetentionPlan[]> {
  const known = await sql<{ dataset: string; kept_since: Date; removed: number }[]>`
    select dataset, kept_since, removed::float8 from recorder.retention`;
  const plans: RetentionPlan[] = [];
  for (const one of retainable) {
    const keep = retention[one.name] ?? null;
    const stored = known.find(({ dataset }) => dataset === one.name);
    if (keep === null && !stored) continue;
    const next = keep === null ? null : new Date(computeKeptSince(now, keep));
    plans.push({
      dataset: one.name,
      keep,
      keptSince: stored?.kept_since ?? null,
      next,
      going: next === null ? 0 : await countGoing(sql, one, next),
      removed: stored?.removed ?? 0,
    });
  }
  return plans;
}

async function countGoing(
  sql: postgres.Sql,
  { removals, readings }: RetentionTarget,
  since: Date,
): Promise<number> {
  const parts = [
    ...removals.map(
      ({ table, where, ctes }) =>
        `(with ${ctes ?? 'nothing as (select)'} select count(*) from recorder.${table} r where ${where})`,
    ),
    ...(readings
      ? [
          `(select coalesce(sum(${readingsIn(readings)}), 0) from recorder.reading_days d
            where d.scope_id in ${scopesOf(readings)} and d.day < ($1 at time zone 'UTC')::date)`,
          `(select coalesce(sum(bit_count(l.present)), 0) from recorder.reading_open l
            where l.dataset = ${regclassSql(packingOf(readings))} and l.observed_at < $1)`,
        ]
      : []),
  ];
  const [row] = await sql.unsafe<{ going: number }[]>(
    `select (${parts.join(' + ')})::float8 as going from (select $1::timestamptz) parameters`,
    [since],
  );
  return row?.going ?? 0;
}
