import type postgres from 'postgres';
import type { Feed } from '../datasets/catalog.ts';
import { OPEN_END, type Range, type Target, type Window } from '../datasets/contract.ts';
import type { ActiveFeed } from './feed.ts';
import { type Job, targetKey } from './lease.ts';
import { parseMultirange, pieces, subtract, upTo } from './windows.ts';

/** A poll may come this much of its interval early, so that ticks that drift do not skip one. */
const EARLY = 0.1;
const FIRST_RETRY = 30_000;
/** A target that its upstream does not offer is asked again once a day. */
export const NOT_OFFERED_AGAIN = 86_400_000;

/** What PostgreSQL knows of a target, as far as planning needs it. Times in ms since 1970. */
export interface TargetState {
  readonly expectedFrom: number | null;
  readonly lastSuccess: number | null;
  readonly lastFailure: number | null;
  readonly failures: number;
  readonly notOffered: boolean;
  readonly covered: readonly Window[];
}

/** What is known of a target that was never seen. */
export const FRESH: TargetState = {
  expectedFrom: null,
  lastSuccess: null,
  lastFailure: null,
  failures: 0,
  notOffered: false,
  covered: [],
};

/**
 * Writes down which targets a feed has now, so that freshness is known for each; those that left the configuration
 * become inactive. Where a recording is expected to begin is fixed when the target is first seen.
 */
export async function registerTargets(
  sql: postgres.Sql,
  { source, datasets, targets, every, since }: ActiveFeed,
  now: number,
): Promise<void> {
  const { range } = source;
  const expectedFrom = range?.axis === 'time' ? (since ?? now - range.lookback) : null;
  const keys = targets.map(targetKey);
  await sql`
    with wanted as (
      insert into recorder.targets as t (source, target_key, target, datasets, every_ms, expected_from)
      select ${source.name}, u.key, u.target::jsonb, ${datasets.map(({ name }) => name)}::text[], ${every},
        ${expectedFrom}::bigint
      from unnest(${keys}::text[], ${targets.map((target) => JSON.stringify(target))}::text[]) as u(key, target)
      on conflict (source, target_key) do update set active = true, every_ms = excluded.every_ms,
        datasets = excluded.datasets, expected_from = least(t.expected_from, excluded.expected_from)
      where not t.active or t.every_ms <> excluded.every_ms or t.datasets <> excluded.datasets
        or excluded.expected_from < coalesce(t.expected_from, 9223372036854775807)
    )
    update recorder.targets set active = false
    where source = ${source.name} and active and not target_key = any(${keys}::text[])`;
}

/** What PostgreSQL knows of a feed's targets, by target key. @param only this target's key; absent: all */
export async function loadStates(
  sql: postgres.Sql,
  { source, datasets }: Feed,
  only?: string,
): Promise<Map<string, TargetState>> {
  const rows = await sql<
    {
      target_key: string;
      expected_from: string | null;
      last_success_at: Date | null;
      last_failure_at: Date | null;
      failures: number;
      not_offered: string | null;
      covered: string | null;
    }[]
  >`
    select t.target_key, t.expected_from, t.last_success_at, t.last_failure_at, t.failures, t.not_offered,
      (select c.covered + coalesce((select range_agg(g.range) from recorder.gaps g
          where g.dataset = c.dataset and g.target_key = c.target_key), '{}') from recorder.coverage c
        where c.dataset = ${datasets[0]?.name ?? ''} and c.target_key = t.target_key)::text as covered
    from recorder.targets t
    where t.source = ${source.name} and (${only ?? null}::text is null or t.target_key = ${only ?? null})`;
  return new Map(
    rows.map((row) => [
      row.target_key,
      {
        expectedFrom: row.expected_from === null ? null : Number(row.expected_from),
        lastSuccess: row.last_success_at?.getTime() ?? null,
        lastFailure: row.last_failure_at?.getTime() ?? null,
        failures: row.failures,
        notOffered: row.not_offered !== null,
        covered: parseMultirange(row.covered ?? ''),
      },
    ]),
  );
}

/** The windows of a range source that are missing now, newest first: the first one is the poll's. */
export function missingWindows(feed: Feed, target: Target, state: TargetState, now: number): Window[] {
  const { range } = feed.source;
  if (!range) return [];
  const to = range.axis === 'time' ? now : OPEN_END;
  const settled = upTo(state.covered, to - range.head(target));
  const from = Math.min(expectedFrom(range, state, now), to - range.head(target));
  return subtract({ from, to }, settled)
    .reverse()
    .flatMap((window) => pieces(window, range.span(target)));
}

/** What is covered and older than every poll's head is asked for again once in this time: late revisions exist. */
const SWEEP_ALL = 30 * 86_400_000;

/**
 * The covered window whose turn to be swept it is at the poll of `now`: which one follows from the time alone, so that
 * nothing has to be remembered, and each has its turn once in 30 days. Only what can be revised is swept.
 */
export function sweepWindow(
  feed: ActiveFeed,
  target: Target,
  state: TargetState,
  now: number,
): Window | undefined {
  const { range } = feed.source;
  if (range?.axis !== 'time' || !feed.datasets.some(({ history }) => history === 'series')) return undefined;
  const old = { from: expectedFrom(range, state, now), to: now - range.head(target) };
  const turns = Math.ceil(SWEEP_ALL / feed.every);
  const turn = Math.floor(now / feed.every) % turns;
  const window = old.from < old.to ? pieces(old, range.span(target))[turn] : undefined;
  return window && subtract(window, state.covered).length === 0 ? window : undefined;
}

/** Where the recording of a target is expected to begin, on the source's axis. */
function expectedFrom(range: Range, state: TargetState, now: number): number {
  if (range.axis === 'time') return state.expectedFrom ?? now - range.lookback;
  return range.lookback > 0 ? 0 : Math.min(...state.covered.map(({ from }) => from), OPEN_END);
}

/** The windows of [from, to) that are not covered, newest first, for a backfill. */
export function missingIn(
  feed: Feed,
  target: Target,
  state: TargetState | undefined,
  range: Window,
): Window[] {
  return subtract(range, state?.covered ?? [])
    .reverse()
    .flatMap((window) => pieces(window, feed.source.range?.span(target) ?? window.to - window.from));
}

/** Whether a poll of the target is due at `now`: an interval after the last one, or later where it keeps failing. */
export function isDue(state: TargetState, every: number, now: number): boolean {
  const { lastSuccess, lastFailure, failures } = state;
  if (state.notOffered) return lastFailure === null || Math.abs(now - lastFailure) > NOT_OFFERED_AGAIN;
  if (failures > 0 && lastFailure !== null && lastFailure <= now)
    return now - lastFailure >= Math.min(every, FIRST_RETRY * 2 ** (failures - 1));
  // A clock that jumped back must not silence a target: a success in the future counts as long ago.
  return lastSuccess === null || lastSuccess > now || now - lastSuccess >= every * (1 - EARLY);
}

/**
 * What a feed lacks now: for each target that is due its poll, and for each other that has holes the newest of them.
 * The next hole follows when that one is filled. Never both: a heal would keep its target from the poll, and what the
 * poll is about to cover would look like a hole.
 */
export function planDue(feed: ActiveFeed, states: ReadonlyMap<string, TargetState>, now: number): Job[] {
  return feed.targets.flatMap((target): Job[] => {
    const state = states.get(targetKey(target)) ?? FRESH;
    const due = isDue(state, feed.every, now) && !(feed.source.once && state.lastSuccess !== null);
    if (!feed.source.range) return due ? [{ target, window: null, reason: 'poll', plannedAt: now }] : [];
    const [poll, hole] = missingWindows(feed, target, state, now);
    const jobs: Job[] = [];
    if (due && poll) jobs.push({ target, window: poll, reason: 'poll', plannedAt: now });
    const swept = due ? sweepWindow(feed, target, state, now) : undefined;
    if (swept) jobs.push({ target, window: swept, reason: 'sweep' });
    if (hole && !due && state.failures === 0 && !state.notOffered)
      jobs.push({ target, window: hole, reason: 'heal' });
    return jobs;
  });
}

/** Everything that a feed lacks now, whether it is due or not: what `record` does. */
export function planAll(
  feed: Feed,
  targets: readonly Target[],
  states: ReadonlyMap<string, TargetState>,
  now: number,
): Job[] {
  return targets.flatMap((target): Job[] => {
    if (!feed.source.range) return [{ target, window: null, reason: 'manual' }];
    const state = states.get(targetKey(target)) ?? FRESH;
    return missingWindows(feed, target, state, now).map((window) => ({ target, window, reason: 'manual' }));
  });
}
