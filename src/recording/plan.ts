import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { OPEN_END, type Target, type Window } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, gaps, retention, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed, ConfiguredFeed } from './active-feed.ts';
import type { Job } from './job.ts';
import { expectedFrom, keptFrom, rangeStart } from './range-start.ts';
import { listSweepWindows } from './sweep-windows.ts';
import { targetKey } from './target-key.ts';
import {
  clipWindows,
  intersectWindows,
  overlaps,
  parseMultirange,
  splitWindow,
  subtractWindows,
} from './windows.ts';

/** Fraction of the interval by which a poll may be early. Otherwise, drifting ticks would skip polls. */
const EARLY_FRACTION = 0.1;
const FIRST_RETRY_MS = 30_000;
/** Retry interval of a target that its upstream does not offer, in ms. */
export const UNSUPPORTED_RETRY_MS = 86_400_000;

/**
 * Stored state of one dataset of a target, limited to the values that planning uses. Times are in ms since
 * 1970.
 */
export interface TargetState {
  readonly expectedFrom: number | null;
  /** Time since which the target is configured. Null if the target is not configured. */
  readonly requestedSince: number | null;
  /**
   * Start of the interval until the next poll. This is the time at which the last successful run was planned,
   * or at which that run ended if it was not planned. Null if no run succeeded.
   */
  readonly lastPolled: number | null;
  /** True if a run was complete: data that never changes is then not requested again. */
  readonly isComplete: boolean;
  readonly lastFailure: number | null;
  readonly failures: number;
  readonly unsupported: boolean;
  /** Windows that are claimed as recorded, and windows that are missing permanently. */
  readonly covered: readonly Window[];
  /**
   * The windows of `covered`, and windows for which a complete response was received at least once. For an
   * index, a complete response does not imply that its window is claimed. All other windows are missing.
   */
  readonly answered: readonly Window[];
  /** Start of the range that the last poll has read, on the axis of the source. Null if unknown. */
  readonly shownFrom: number | null;
  /** Windows whose last sweep failed. */
  readonly failedSweeps: readonly Window[];
  /**
   * Start of the retained data, in ms since 1970. Older data was removed and is not requested again. Null:
   * nothing was removed. Applies only to the axis of time.
   */
  readonly keptSince: number | null;
}

/** Stored states, by target key and dataset. */
export type TargetStates = ReadonlyMap<string, ReadonlyMap<string, TargetState>>;

/** State of a dataset of a new target. */
const NEW_TARGET_STATE: TargetState = {
  expectedFrom: null,
  requestedSince: null,
  lastPolled: null,
  isComplete: false,
  lastFailure: null,
  failures: 0,
  unsupported: false,
  covered: [],
  answered: [],
  shownFrom: null,
  failedSweeps: [],
  keptSince: null,
};

/** Returns the state of one dataset of a target. */
export function targetStateOf(states: TargetStates, target: Target, dataset: string): TargetState {
  return states.get(targetKey(target))?.get(dataset) ?? NEW_TARGET_STATE;
}

/**
 * Returns the combined state of all datasets of a feed for a target. A window counts as covered if every
 * dataset covers it.
 */
export function jointState({ datasets }: ConfiguredFeed, states: TargetStates, target: Target): TargetState {
  const all = datasets.map(({ name }) => targetStateOf(states, target, name));
  const earliest = (instants: readonly (number | null)[]) =>
    instants.reduce((one, other) => (one === null || other === null ? null : Math.min(one, other)));
  return {
    expectedFrom: earliest(all.map(({ expectedFrom }) => expectedFrom)),
    requestedSince: earliest(all.map(({ requestedSince }) => requestedSince)),
    lastPolled: earliest(all.map(({ lastPolled }) => lastPolled)),
    isComplete: all.every(({ isComplete }) => isComplete),
    lastFailure: earliest(all.map(({ lastFailure }) => lastFailure)),
    failures: Math.max(...all.map(({ failures }) => failures)),
    unsupported: all.every(({ unsupported }) => unsupported),
    covered: all.map(({ covered }) => covered).reduce(intersectWindows),
    answered: all.map(({ answered }) => answered).reduce(intersectWindows),
    shownFrom: all[0]?.shownFrom ?? null,
    failedSweeps: all[0]?.failedSweeps ?? [],
    keptSince: earliest(all.map(({ keptSince }) => keptSince)),
  };
}

/**
 * Loads the states of the targets of a feed.
 * @param only key of the target to load. Default: all targets.
 */
export async function loadStates(
  sql: postgres.Sql,
  { source }: Pick<ConfiguredFeed, 'source'>,
  only?: string,
): Promise<TargetStates> {
  const rows = await ormOf(sql).execute<{
    target_key: string;
    dataset: string;
    expected_from: string | null;
    requested_since: Date | null;
    last_polled: Date | null;
    is_complete: boolean;
    last_failure_at: Date | null;
    failures: number;
    unsupported_reason: string | null;
    covered: string | null;
    answered: string | null;
    shown_from: string | null;
    failed_sweeps: string | null;
    kept_since: Date | null;
  }>(expression`
    select t.target_key, t.dataset, t.expected_from, case when t.active then t.requested_since end as requested_since, least(t.last_planned_at, t.last_success_at) as last_polled, t.last_complete_at is not null as is_complete, t.last_failure_at, t.failures, t.unsupported_reason,
      (c.covered + lost.ranges)::text as covered, (c.covered + lost.ranges + coalesce(c.answered, '{}'))::text as answered,
      k.shown_from, k.failed_sweeps::text, (select r.kept_since from ${retention} r where r.dataset = t.dataset) as kept_since
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
      requestedSince: row.requested_since?.getTime() ?? null,
      lastPolled: row.last_polled?.getTime() ?? null,
      isComplete: row.is_complete,
      lastFailure: row.last_failure_at?.getTime() ?? null,
      failures: row.failures,
      unsupported: row.unsupported_reason !== null,
      covered: parseMultirange(row.covered ?? ''),
      answered: parseMultirange(row.answered ?? ''),
      shownFrom: row.shown_from === null ? null : Number(row.shown_from),
      failedSweeps: parseMultirange(row.failed_sweeps ?? ''),
      keptSince: row.kept_since?.getTime() ?? null,
    });
  }
  return states;
}

/** Returns the missing windows of a range source, newest first. A poll requests the first window. */
export function missingWindows(
  { source: { range } }: Pick<ConfiguredFeed, 'source'>,
  target: Target,
  state: TargetState,
  now: number,
): Window[] {
  if (!range) return [];
  const to = range.axis === 'time' ? now : OPEN_END;
  const settled = clipWindows(state.answered, to - range.head(target));
  const from = keptFrom(range, state, Math.min(expectedFrom(range, state, now), to - range.head(target)));
  return subtractWindows({ from, to }, settled)
    .reverse()
    .flatMap((window) => splitWindow(window, range.span(target)));
}

/**
 * Returns the missing windows below the newest recorded part, newest first. The next poll requests newer
 * windows.
 */
function findHoles(feed: ActiveFeed, target: Target, state: TargetState, now: number): Window[] {
  const missing = missingWindows(feed, target, state, now);
  const newest = state.answered.at(-1);
  return newest ? missing.filter(({ to }) => to <= newest.from) : missing.slice(1);
}

/**
 * Maximum number of pieces of a window in one run of a backfill. A run requests many pieces, because its
 * start and its end cost as much as several pages.
 */
const MAX_PIECES_PER_RUN = 30;

/**
 * Returns the windows of a range that are not claimed as covered, newest first, for a backfill. Removed data
 * is not requested.
 * @param range inclusive start, exclusive end
 * @param again includes covered windows
 */
export function findUncoveredWindows(
  feed: ActiveFeed,
  target: Target,
  state: TargetState,
  range: Window,
  again = false,
): Window[] {
  const { range: axis } = feed.source;
  const from = axis ? keptFrom(axis, state, range.from) : range.from;
  const length = axis?.perRun ?? MAX_PIECES_PER_RUN * (axis?.span(target) ?? Infinity);
  return subtractWindows({ from, to: range.to }, again ? [] : state.covered)
    .reverse()
    .flatMap((window) => splitWindow(window, length));
}

/**
 * Returns whether a poll is due at `now`. A poll is due one interval after the last success, and at once if the
 * target was configured again after that success. After a failure, a poll is due after a backoff, which is at
 * most the interval. A target that its upstream does not offer is due after {@link UNSUPPORTED_RETRY_MS}. The
 * interval starts at the planning of the last poll. If the interval started at the end of that poll, every
 * second tick would be too early.
 */
export function isDue(state: TargetState, every: number, now: number): boolean {
  const { lastPolled, lastFailure, failures, requestedSince } = state;
  if (state.unsupported) return lastFailure === null || Math.abs(now - lastFailure) > UNSUPPORTED_RETRY_MS;
  if (failures > 0 && lastFailure !== null && lastFailure <= now)
    return now - lastFailure >= Math.min(every, FIRST_RETRY_MS * 2 ** (failures - 1));
  // If the clock was set back, the last success may be in the future. The target is then due, because its
  // polls must not stop.
  if (lastPolled === null || lastPolled > now) return true;
  if (requestedSince !== null && requestedSince > lastPolled && requestedSince <= now) return true;
  return now - lastPolled >= every * (1 - EARLY_FRACTION);
}

/**
 * Plans the jobs for missing data of a feed. A target with due datasets gets one poll of these datasets, and
 * its due sweeps. Any other target with holes gets a heal of the newest hole. The next hole is planned after
 * that hole is filled. A target never gets a poll and a heal together, because the heal would delay the poll.
 */
export function planDue(feed: ActiveFeed, states: TargetStates, now: number): Job[] {
  const { range, once } = feed.source;
  let firstPolls = 0;
  return feed.targets.flatMap((target): Job[] => {
    const known = feed.datasets.map((dataset) => ({
      ...dataset,
      state: targetStateOf(states, target, dataset.name),
    }));
    const due = known.filter(({ state, every }) => isDue(state, every, now) && !(once && state.isComplete));
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
      // All these windows end now, so that the longest window contains the others.
      const polls = due.flatMap(({ state }) => missingWindows(feed, target, state, now).slice(0, 1));
      const from = Math.min(...polls.map((window) => window.from));
      const poll = polls.find((window) => window.from === from) ?? null;
      const joint = jointState(feed, states, target);
      // Retries of a poll do not repeat the sweeps that were planned with the first attempt.
      const sweeps = joint.failures > 0 ? [] : listSweepWindows(feed, target, joint, now);
      const isFirst = due.every(({ state }) => state.lastPolled === null);
      const place = isFirst ? { firstPoll: firstPolls++ } : {};
      return [
        ...(range && !poll
          ? []
          : [{ ...job(poll, 'poll', due), ...reachOf(feed, joint, now), plannedAt: now, ...place }]),
        ...sweeps.map((window) => job(window, 'sweep', feed.datasets)),
      ];
    }
    const torn = known
      .filter(({ state }) => state.failures === 0 && !state.unsupported)
      .map((dataset) => ({ ...dataset, holes: findHoles(feed, target, dataset.state, now) }));
    const [newest] = torn.flatMap(({ holes }) => holes.slice(0, 1)).sort((a, b) => b.to - a.to);
    if (!newest) return [];
    return [
      job(
        newest,
        'heal',
        torn.filter(({ holes }) => holes.some((hole) => overlaps(hole, newest))),
      ),
    ];
  });
}

/** Returns the lower bound of the pages of a poll. For an index, this is the start of the range. */
function reachOf({ source: { range } }: ConfiguredFeed, state: TargetState, now: number): Pick<Job, 'reach'> {
  return range?.index ? { reach: rangeStart(range, state, now) } : {};
}

/**
 * Plans jobs for all missing data of a feed, whether due or not, and for due sweeps. Used by the command
 * `record`.
 */
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
        // A success of the first window is stored with the time of this plan, so that the next plan includes
        // all sweeps that become due after this one.
        ...(at === 0 ? { ...reachOf(feed, state, now), plannedAt: now } : {}),
      }),
    );
    const again = listSweepWindows(feed, target, state, now);
    return [...missing, ...again.map((window): Job => ({ target, window, reason: 'sweep' }))];
  });
}
