import { and, eq, isNotNull } from 'drizzle-orm';
import type postgres from 'postgres';
import { OPEN_END, type Target, type Window } from '../../datasets/contract.ts';
import { ormOf } from '../../db/orm.ts';
import { targets } from '../../db/schema/bookkeeping.ts';
import { yieldChunks } from '../../lib/chunk.ts';
import type { ConfiguredFeed } from '../../recording/active-feed.ts';
import {
  jointState,
  loadStates,
  missingWindows,
  type TargetState,
  type TargetStates,
  targetStateOf,
  UNSUPPORTED_RETRY_MS,
} from '../../recording/plan.ts';
import { rangeStart } from '../../recording/range-start.ts';
import { listSweepWindows, RECENT_MS } from '../../recording/sweep-windows.ts';
import { targetKey } from '../../recording/target-key.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/**
 * Two polls cost about the same if the window of the last poll is at most this many times as long as the
 * window of the next poll.
 */
const MAX_WINDOW_RATIO = 2;
/** Number of targets that are forecast before the event loop continues with other work. */
const FORECAST_BATCH_SIZE = 1_000;

/** Calls to an upstream, and their cost in budget units. */
export interface Cost {
  readonly calls: number;
  readonly units: number;
}

/** The calls of the schedule of a feed that has caught up. */
export interface Forecast {
  readonly datasets: readonly string[];
  readonly upstream: string;
  readonly targets: number;
  /** Poll interval of a target, in ms. */
  readonly every: number;
  /** The cost of one poll of all targets. */
  readonly round: Cost;
  /** The cost of polls and repeated windows within one hour from now. */
  readonly hour: Cost;
  /** The cost of polls and repeated windows within one day from now. */
  readonly day: Cost;
  /** The calls of the day that repeat earlier requests, to find late items and revisions. */
  readonly sweepsOfDay: number;
  /**
   * Calls that fill in the heights between the configured start and the record. Null: unknown before the
   * first poll.
   */
  readonly backlog: number | null;
}

/** The last complete poll of a target. */
interface LastPoll {
  readonly requests: number;
  /** The maximum number of requests of a complete run. */
  readonly mostRequests: number | null;
  /** Null for an observation of the current state. */
  readonly window: Window | null;
  /** The mean time between two items of an index, in ms; null if unknown. */
  readonly usualInterval: number | null;
}

/**
 * Forecasts the calls of each schedule after `now`. A target costs as much as its last comparable poll,
 * because lists grow. If there is no such poll, the target costs the declared number of calls. Targets that
 * the upstream does not offer are polled once a day. Responses that never change are not requested again once
 * they are recorded.
 * @param now in ms since 1970
 */
export async function forecast(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  now: number,
): Promise<Forecast[]> {
  const watched = feeds.filter(({ targets }) => targets.length > 0);
  return Promise.all(
    watched.map(async (feed) =>
      forecastOf(feed, await loadStates(sql, feed), await readLastPolls(sql, feed), now),
    ),
  );
}

async function forecastOf(
  feed: ConfiguredFeed,
  states: TargetStates,
  lastPolls: ReadonlyMap<string, LastPoll>,
  now: number,
): Promise<Forecast> {
  const { source, datasets, targets, every } = feed;
  let [round, hour, day, sweepsOfDay] = [0, 0, 0, 0];
  let backlog: number | null = 0;
  for await (const part of yieldChunks(targets, FORECAST_BATCH_SIZE))
    for (const target of part) {
      const joint = jointState(feed, states, target);
      const costs = datasets.map((dataset) => ({
        ...dataset,
        state: targetStateOf(states, target, dataset.name),
      }));
      const behind = heightsBehind(feed, target, joint, now);
      backlog = backlog === null || behind === null ? null : backlog + behind;
      const cost = pollCost(feed, target, joint, lastPolls.get(targetKey(target)), now);
      if (!joint.unsupported && !isDone(feed, joint)) round += cost;
      const within = (span: number) => {
        const all = costs.map(({ state, every }) => ticks(feed, state, every, now, now + span));
        const [only] = all;
        if (only && all.length === 1 && !source.range?.index) return { polls: cost * only.count, sweeps: 0 };
        // Datasets that are due at the same time share the call.
        const due = [...new Set(all.flatMap(instantsOf))].sort((a, b) => a - b);
        const lastPoll = lastPolls.get(targetKey(target));
        return { polls: cost * due.length, sweeps: callsAgain(feed, target, joint, lastPoll, due) };
      };
      const [ofHour, ofDay] = [within(HOUR), within(DAY)];
      hour += ofHour.polls + ofHour.sweeps;
      day += ofDay.polls + ofDay.sweeps;
      sweepsOfDay += ofDay.sweeps;
    }
  const cost = (calls: number): Cost => ({ calls, units: calls * source.weight });
  return {
    datasets: datasets.map(({ name }) => name),
    upstream: source.upstream,
    targets: targets.length,
    every,
    round: cost(round),
    hour: cost(hour),
    day: cost(day),
    sweepsOfDay,
    backlog,
  };
}

/**
 * Returns the number of calls for the windows that polls request again.
 * @param polls times of the polls, in ms since 1970, ascending
 */
function callsAgain(
  feed: ConfiguredFeed,
  target: Target,
  state: TargetState,
  last: LastPoll | undefined,
  polls: readonly number[],
): number {
  const { source, pageSize } = feed;
  const { index, axis } = source.range ?? {};
  if (!index) return 0;
  const callsOf = ({ from, to }: Window, poll: number) => {
    if (isWholeList(feed, target, state, from, poll)) return last?.mostRequests ?? source.calls;
    if (!last?.usualInterval) return source.calls;
    const span = axis === 'height' ? RECENT_MS : to - from;
    return Math.max(source.calls, Math.ceil(span / last.usualInterval / (pageSize ?? index.page)));
  };
  let lastPolled = state.lastPolled ?? polls[0] ?? 0;
  let calls = 0;
  for (const poll of polls) {
    for (const window of listSweepWindows(feed, target, { ...state, lastPolled }, poll))
      calls += callsOf(window, poll);
    lastPolled = poll;
  }
  return calls;
}

/** Returns true if the window from a start is the whole list of a target, requested as one window. */
function isWholeList(
  { source }: ConfiguredFeed,
  target: Target,
  state: TargetState,
  from: number,
  now: number,
) {
  const { range } = source;
  return range?.span(target) === Number.POSITIVE_INFINITY && from <= rangeStart(range, state, now);
}

/**
 * Returns the number of heights that are missing below the newest part; null: unknown before the first poll.
 */
function heightsBehind(feed: ConfiguredFeed, target: Target, state: TargetState, now: number): number | null {
  if (feed.source.range?.perRun === undefined) return 0;
  if (state.answered.length === 0) return state.expectedFrom === null ? 0 : null;
  const [, ...holes] = missingWindows(feed, target, state, now);
  return holes.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Returns true if the response never changes and is recorded. */
const isDone = ({ source }: ConfiguredFeed, state: TargetState) => source.once === true && state.isComplete;

/** Polls with a constant interval: `first` in ms since 1970, `step` in ms. */
interface Ticks {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/**
 * Returns the polls of a dataset after `now` and until `until`. Overdue datasets are polled immediately,
 * others one interval after their last poll.
 */
function ticks(feed: ConfiguredFeed, state: TargetState, every: number, now: number, until: number): Ticks {
  const step = state.unsupported ? UNSUPPORTED_RETRY_MS + 1 : every;
  if (isDone(feed, state)) return { first: now, step, count: 0 };
  const last = state.unsupported ? state.lastFailure : state.lastPolled;
  const isLate = last === null || last > now || last + step <= now;
  const first = isLate ? now : last + step;
  const count = isLate ? Math.ceil((until - first) / step) : Math.floor((until - first) / step) + 1;
  return { first, step, count: Math.max(0, feed.source.once ? Math.min(count, 1) : count) };
}

const instantsOf = ({ first, step, count }: Ticks) =>
  Array.from({ length: count }, (_, at) => first + at * step);

/**
 * Returns the calls of the next poll of a target: the calls of the last poll if that poll is comparable,
 * otherwise the declared number.
 */
function pollCost(
  feed: ConfiguredFeed,
  target: Target,
  state: TargetState,
  last: LastPoll | undefined,
  now: number,
): number {
  const { source } = feed;
  if (!last || !source.range) return last?.requests ?? source.calls;
  const [next] = missingWindows(feed, target, state, now + feed.every);
  return next && last.window && isComparable(source.range.axis, last.window, next)
    ? last.requests
    : source.calls;
}

/**
 * Returns true if two windows need about the same number of calls. For heights, only the first recording,
 * which may be very long, is not comparable.
 */
function isComparable(axis: 'time' | 'height', last: Window, next: Window): boolean {
  if (axis === 'height') return last.from > 0 && last.from < OPEN_END - 1;
  return last.to - last.from <= MAX_WINDOW_RATIO * (next.to - next.from);
}

/** Reads the last complete poll of each target of a feed, by target key. */
async function readLastPolls(sql: postgres.Sql, { source }: ConfiguredFeed): Promise<Map<string, LastPoll>> {
  const { target_key, poll_requests, max_requests, poll_from, poll_to, usual_interval_ms } = targets;
  const rows = await ormOf(sql)
    .select({
      target_key,
      requests: poll_requests,
      most: max_requests,
      from: poll_from,
      to: poll_to,
      usual: usual_interval_ms,
    })
    .from(targets)
    .where(and(eq(targets.source, source.name), isNotNull(poll_requests)));
  return new Map(
    rows.map(({ target_key, requests, most, from, to, usual }) => [
      target_key,
      {
        requests: requests ?? 0,
        mostRequests: most,
        window: from === null || to === null ? null : { from, to },
        usualInterval: usual,
      },
    ]),
  );
}
