import type postgres from 'postgres';
import { OPEN_END, type Range, type Target, type Window } from '../datasets/contract.ts';
import type { ActiveFeed, Watched } from './active-feed.ts';
import type { Job } from './job.ts';
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
  /** What is recorded, and what is missing for good. */
  readonly covered: readonly Window[];
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
    keptSince: earliest(all.map(({ keptSince }) => keptSince)),
  };
}

/** What PostgreSQL knows of a feed's targets. @param only this target's key; absent: all */
export async function loadStates(
  sql: postgres.Sql,
  { source }: Pick<Watched, 'source'>,
  only?: string,
): Promise<TargetStates> {
  const rows = await sql<
    {
      target_key: string;
      dataset: string;
      expected_from: string | null;
      last_polled: Date | null;
      last_failure_at: Date | null;
      failures: number;
      not_offered: string | null;
      covered: string | null;
      kept_since: Date | null;
    }[]
  >`
    select t.target_key, t.dataset, t.expected_from, least(t.last_planned_at, t.last_success_at) as last_polled, t.last_failure_at, t.failures, t.not_offered,
      (select c.covered + coalesce((select range_agg(g.range) from recorder.gaps g
          where g.dataset = c.dataset and g.target_key = c.target_key), '{}') from recorder.coverage c
        where c.dataset = t.dataset and c.target_key = t.target_key)::text as covered,
      (select r.kept_since from recorder.retention r where r.dataset = t.dataset) as kept_since
    from recorder.target_datasets t
    where t.source = ${source.name} and (${only ?? null}::text is null or t.target_key = ${only ?? null})`;
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
  const settled = upTo(state.covered, to - range.head(target));
  const from = kept(range, state, Math.min(expectedFrom(range, state, now), to - range.head(target)));
  return subtract({ from, to }, settled)
    .reverse()
    .flatMap((window) => pieces(window, range.span(target)));
}

/** The missing windows below the newest recorded part, newest first. What is newer is left to the next poll. */
function holes(feed: ActiveFeed, target: Target, state: TargetState, now: number): Window[] {
  const missing = missingWindows(feed, target, state, now);
  const newest = state.covered.at(-1);
  return newest ? missing.filter(({ to }) => to <= newest.from) : missing.slice(1);
}

/** The covered range below the head is asked for again once in this time: points are revised late, and an index may trail for days. */
const SWEEP_ALL = 30 * 86_400_000;

/**
 * Whether the covered range of a target is asked for again from time to time. One of heights is not, as it is claimed only
 * below a block that is known, and none that one window holds, which would be asked for as a whole.
 */
export const isSwept = ({ source: { range } }: Watched, target: Target): boolean =>
  range?.axis === 'time' && Number.isFinite(range.span(target));

/**
 * The covered windows that are swept with the poll of `now`. The choice follows from the time alone, so that no state is
 * kept. Each window is swept once in 30 days, however rare the polls are.
 */
export function sweepWindows(feed: Watched, target: Target, state: TargetState, now: number): Window[] {
  const { range } = feed.source;
  if (!range || !isSwept(feed, target)) return [];
  const newest = state.covered.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const old = {
    from: kept(range, state, expectedFrom(range, state, now)),
    to: Math.min(now - range.head(target), newest),
  };
  if (old.from >= old.to) return [];
  const turns = Math.max(1, Math.floor(SWEEP_ALL / feed.every));
  const turn = Math.floor(now / feed.every) % turns;
  const span = range.span(target);
  if (old.to - old.from <= turn * span) return []; // as nearly always: there are more turns than pieces
  return pieces(old, span).filter(
    (window, at) => at % turns === turn && subtract(window, state.covered).length === 0,
  );
}

/** Where the recording of a target is expected to begin, on the source's axis. */
function expectedFrom(range: Range, state: TargetState, now: number): number {
  if (range.axis === 'time') return state.expectedFrom ?? firstBegin(range, now);
  return range.lookback === Number.POSITIVE_INFINITY
    ? 0
    : Math.min(...state.covered.map(({ from }) => from), OPEN_END);
}

/** Where the first recording of a range of time begins, in ms since 1970. */
export const firstBegin = ({ lookback }: Range, now: number): number =>
  lookback instanceof Date ? lookback.getTime() : now - lookback;

/** The begin of a window, not before that of what is kept. What was removed by height still counts as recorded. */
const kept = ({ axis }: Range, { keptSince }: TargetState, from: number): number =>
  axis === 'time' && keptSince !== null ? Math.max(from, keptSince) : from;

/** So many pieces of a window are asked for by one run of a backfill: beginning and ending one costs as much as some pages. */
const PIECES_A_RUN = 30;

/** The windows of [from, to) that are not covered, newest first, for a backfill. What was removed is not asked for again. */
export function missingIn(feed: ActiveFeed, target: Target, state: TargetState, range: Window): Window[] {
  const begin = feed.source.range ? kept(feed.source.range, state, range.from) : range.from;
  return subtract({ from: begin, to: range.to }, state.covered)
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
      const swept = range ? sweepWindows(feed, target, jointState(feed, states, target), now) : [];
      return [
        ...(range && !poll ? [] : [{ ...job(poll, 'poll', due), plannedAt: now }]),
        ...swept.map((window) => job(window, 'sweep', feed.datasets)),
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

/** Everything that a feed lacks now, whether it is due or not: what `record` does. */
export function planAll(
  feed: ActiveFeed,
  targets: readonly Target[],
  states: TargetStates,
  now: number,
): Job[] {
  return targets.flatMap((target): Job[] => {
    if (!feed.source.range) return [{ target, window: null, reason: 'manual' }];
    return missingWindows(feed, target, jointState(feed, states, target), now).map((window) => ({
      target,
      window,
      reason: 'manual',
    }));
  });
}
