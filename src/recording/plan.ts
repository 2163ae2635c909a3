import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { OPEN_END, type Target, type Window } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, gaps, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { retention } from '../db/schema/retention-tables.ts';
import type { ActiveFeed, Watched } from './active-feed.ts';
import type { Job } from './job.ts';
import { expectedFrom, keptFrom, rangeStart } from './range-start.ts';
import { windowsAgain } from './sweep-windows.ts';
import { targetKey } from './target-key.ts';
import { common, parseMultirange, pieces, subtract, touches, upTo } from './windows.ts';

/** A poll may be early by this share of its interval, so that no poll is skipped when ticks drift. */
const EARLY = 0.1;
const FIRST_RETRY = 30_000;
/** A target that its upstream does not offer is asked again once a day. */
export const NOT_OFFERED_AGAIN = 86_400_000;

/** What PostgreSQL knows of one dataset of a target, as far as planning needs it. Times in ms since 1970. */
export interface TargetState {
  readonly expectedFrom: number | null;
  /** When the run of the last success was planned, or ended where nobody planned it: the next poll counts from there. */
  readonly lastPolled: number | null;
  readonly lastFailure: number | null;
  readonly failures: number;
  readonly notOffered: boolean;
  /** What is claimed as recorded, and what is missing for good. */
  readonly covered: readonly Window[];
  /** What was answered whole at least once: of an index more than is claimed. What is missing is the rest. */
  readonly answered: readonly Window[];
  /** The start of what the last poll showed, on the source's axis; null if unknown. */
  readonly shownFrom: number | null;
  /** What is older was removed, and is not asked for again; null: nothing was. Counts on the axis of time only. */
  readonly keptSince: number | null;
}

/** What is known of a target's datasets, by target key and dataset. */
export type TargetStates = ReadonlyMap<string, ReadonlyMap<string, TargetState>>;

/** What is known of a dataset of a target that was never seen. */
const FRESH: TargetState = {
  expectedFrom: null,
  lastPolled: null,
  lastFailure: null,
  failures: 0,
  notOffered: false,
  covered: [],
  answered: [],
  shownFrom: null,
  keptSince: null,
};

/** What is known of one dataset of a target. */
export function stateOf(states: TargetStates, target: Target, dataset: string): TargetState {
  return states.get(targetKey(target))?.get(dataset) ?? FRESH;
}

/**
 * What is known of a target over all datasets of a feed: a part of the axis counts as covered where each of them has it.
 */
export function jointState({ datasets }: Watched, states: TargetStates, target: Target): TargetState {
  const all = datasets.map(({ name }) => stateOf(states, target, name));
  const earliest = (instants: readonly (number | null)[]) =>
    instants.reduce((one, other) => (one === null || other === null ? null : Math.min(one, other)));
  return {
    expectedFrom: earliest(all.map(({ expectedFrom }) => expectedFrom)),
    lastPolled: earliest(all.map(({ lastPolled }) => lastPolled)),
    lastFailure: earliest(all.map(({ lastFailure }) => lastFailure)),
    failures: Math.max(...all.map(({ failures }) => failures)),
    notOffered: all.every(({ notOffered }) => notOffered),
    covered: all.map(({ covered }) => covered).reduce(common),
    answered: all.map(({ answered }) => answered).reduce(common),
    shownFrom: all[0]?.shownFrom ?? null,
    keptSince: earliest(all.map(({ keptSince }) => keptSince)),
  };
}

/** What PostgreSQL knows of a feed's targets. @param only this target's key; absent: all */
export async function loadStates(
  sql: postgres.Sql,
  { source }: Pick<Watched, 'source'>,
  only?: string,
): Promise<TargetStates> {
  const rows = await ormOf(sql).execute<{
    target_key: string;
    dataset: string;
    expected_from: string | null;
    last_polled: Date | null;
    last_failure_at: Date | null;
    failures: number;
    not_offered: string | null;
    covered: string | null;
    answered: string | null;
    shown_from: string | null;
    kept_since: Date | null;
  }>(expression`
    select t.target_key, t.dataset, t.expected_from, least(t.last_planned_at, t.last_success_at) as last_polled, t.last_failure_at, t.failures, t.not_offered,
      (c.covered + lost.ranges)::text as covered, (c.covered + lost.ranges + coalesce(c.answered, '{}'))::text as answered,
      k.shown_from, (select r.kept_since from ${retention} r where r.dataset = t.dataset) as kept_since
    from ${targetDatasets} t
    join ${targets} k using (source, target_key)
    left join ${coverage} c using (dataset, target_key)
    left join lateral (
      select coalesce(range_agg(g.range), '{}') as ranges from ${gaps} g
      where g.dataset = c.dataset and g.target_key = c.target_key) lost on true
    where t.source = ${source.name} and (${only ?? null}::text is null or t.target_key = ${only ?? null})`);
  const states = new Map<string, Map<string, TargetState>>();
  for (const row of rows) {
    const ofTarget = states.get(row.target_key) ?? new Map<string, TargetState>();
    states.set(row.target_key, ofTarget);
    ofTarget.set(row.dataset, {
      expectedFrom: row.expected_from === null ? null : Number(row.expected_from),
      lastPolled: row.last_polled?.getTime() ?? null,
      lastFailure: row.last_failure_at?.getTime() ?? null,
      failures: row.failures,
      notOffered: row.not_offered !== null,
      covered: parseMultirange(row.covered ?? ''),
      answered: parseMultirange(row.answered ?? ''),
      shownFrom: row.shown_from === null ? null : Number(row.shown_from),
      keptSince: row.kept_since?.getTime() ?? null,
    });
  }
  return states;
}

/** The missing windows of a range source, newest first. The first one is what a poll asks for. */
export function missingWindows(
  { source: { range } }: Pick<Watched, 'source'>,
  target: Target,
  state: TargetState,
  now: number,
): Window[] {
  if (!range) return [];
  const to = range.axis === 'time' ? now : OPEN_END;
  const settled = upTo(state.answered, to - range.head(target));
  const from = keptFrom(range, state, Math.min(expectedFrom(range, state, now), to - range.head(target)));
  return subtract({ from, to }, settled)
    .reverse()
    .flatMap((window) => pieces(window, range.span(target)));
}

/** The missing windows below the newest recorded part, newest first. What is newer is left to the next poll. */
function holes(feed: ActiveFeed, target: Target, state: TargetState, now: number): Window[] {
  const missing = missingWindows(feed, target, state, now);
  const newest = state.answered.at(-1);
  return newest ? missing.filter(({ to }) => to <= newest.from) : missing.slice(1);
}

/** So many pieces of a window are asked for by one run of a backfill: beginning and ending one costs as much as some pages. */
const PIECES_A_RUN = 30;

/**
 * The windows of [from, to) that are not claimed as covered, newest first, for a backfill. What was removed is not requested.
 * @param again also those that are covered
 */
export function missingIn(
  feed: ActiveFeed,
  target: Target,
  state: TargetState,
  range: Window,
  again = false,
): Window[] {
  const from = feed.source.range ? keptFrom(feed.source.range, state, range.from) : range.from;
  return subtract({ from, to: range.to }, again ? [] : state.covered)
    .reverse()
    .flatMap((window) => pieces(window, PIECES_A_RUN * (feed.source.range?.span(target) ?? Infinity)));
}

/**
 * Whether a poll is due at `now`: an interval after the last one was, or later where it keeps failing. How long that one waited in line
 * does not count: else a tick would find it too young, and it would be polled at every second tick only.
 */
export function isDue(state: TargetState, every: number, now: number): boolean {
  const { lastPolled, lastFailure, failures } = state;
  if (state.notOffered) return lastFailure === null || Math.abs(now - lastFailure) > NOT_OFFERED_AGAIN;
  if (failures > 0 && lastFailure !== null && lastFailure <= now)
    return now - lastFailure >= Math.min(every, FIRST_RETRY * 2 ** (failures - 1));
  // A clock that jumped back must not stop the polls of a target: a success in the future makes it due.
  return lastPolled === null || lastPolled > now || now - lastPolled >= every * (1 - EARLY);
}

/**
 * The jobs for what a feed lacks now. A target with a dataset that is due gets one poll of the datasets that are due. Any
 * other target with holes gets a heal of the newest hole; the next hole follows when that one is filled. A target never
 * gets both, because a heal would delay the poll.
 */
export function planDue(feed: ActiveFeed, states: TargetStates, now: number): Job[] {
  const { range, once } = feed.source;
  return feed.targets.flatMap((target): Job[] => {
    const known = feed.datasets.map((dataset) => ({
      ...dataset,
      state: stateOf(states, target, dataset.name),
    }));
    const due = known.filter(
      ({ state, every }) => isDue(state, every, now) && !(once && state.lastPolled !== null),
    );
    const job = (
      window: Window | null,
      reason: Job['reason'],
      datasets: readonly { name: string }[],
    ): Job => ({
      target,
      window,
      reason,
      ...(datasets.length < feed.datasets.length ? { datasets: datasets.map(({ name }) => name) } : {}),
    });
    if (due.length > 0) {
      // All these windows end now: the longest one contains the others.
      const polls = due.flatMap(({ state }) => missingWindows(feed, target, state, now).slice(0, 1));
      const from = Math.min(...polls.map((window) => window.from));
      const poll = polls.find((window) => window.from === from) ?? null;
      const joint = jointState(feed, states, target);
      return [
        ...(range && !poll
          ? []
          : [{ ...job(poll, 'poll', due), ...reachOf(feed, joint, now), plannedAt: now }]),
        ...windowsAgain(feed, target, joint, now).map((window) => job(window, 'sweep', feed.datasets)),
      ];
    }
    const torn = known
      .filter(({ state }) => state.failures === 0 && !state.notOffered)
      .map((dataset) => ({ ...dataset, holes: holes(feed, target, dataset.state, now) }));
    const [newest] = torn.flatMap(({ holes }) => holes.slice(0, 1)).sort((a, b) => b.to - a.to);
    if (!newest) return [];
    return [
      job(
        newest,
        'heal',
        torn.filter(({ holes }) => holes.some((hole) => touches(hole, newest))),
      ),
    ];
  });
}

/** How far down a poll requests its page: of an index as far as the page goes. */
function reachOf({ source: { range } }: Watched, state: TargetState, now: number): Pick<Job, 'reach'> {
  return range?.index ? { reach: rangeStart(range, state, now) } : {};
}

/** Everything that a feed lacks now, whether it is due or not, and what is requested again: what `record` does. */
export function planAll(
  feed: ActiveFeed,
  targets: readonly Target[],
  states: TargetStates,
  now: number,
): Job[] {
  return targets.flatMap((target): Job[] => {
    if (!feed.source.range) return [{ target, window: null, reason: 'manual' }];
    const state = jointState(feed, states, target);
    const missing = missingWindows(feed, target, state, now).map(
      (window, at): Job => ({
        target,
        window,
        reason: 'manual',
        ...(at === 0 ? reachOf(feed, state, now) : {}),
      }),
    );
    const again = windowsAgain(feed, target, state, now);
    return [...missing, ...again.map((window): Job => ({ target, window, reason: 'sweep' }))];
  });
}
