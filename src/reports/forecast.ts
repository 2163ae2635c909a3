import type postgres from 'postgres';
import { OPEN_END, type Target, type Window } from '../datasets/contract.ts';
import type { Watched } from '../recording/active-feed.ts';
import {
  jointState,
  loadStates,
  missingWindows,
  NOT_OFFERED_AGAIN,
  stateOf,
  sweepWindows,
  type TargetState,
  type TargetStates,
} from '../recording/plan.ts';
import { targetKey } from '../recording/target-key.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The cost of a poll is used for the next one only if its window was at most this many times as long. */
const COMPARABLE = 2;

/** Calls to an upstream, and what they cost of its budget. */
export interface Cost {
  readonly calls: number;
  readonly units: number;
}

/** What a feed's schedule asks for once it has caught up. */
export interface Forecast {
  readonly datasets: readonly string[];
  readonly upstream: string;
  readonly targets: number;
  /** Milliseconds between two polls of a target. */
  readonly every: number;
  /** One poll of all targets. */
  readonly round: Cost;
  /** Polls and sweeps in the hour and in the day after now. */
  readonly hour: Cost;
  readonly day: Cost;
  /** Of the calls of the day, those that look for late revisions of what is recorded already. */
  readonly sweepsOfDay: number;
}

/** The last complete poll of a target. */
interface Look {
  readonly requests: number;
  /** Null: an observation of how things were. */
  readonly window: Window | null;
}

/**
 * What each schedule will ask for after `now`. A target costs what its last comparable poll cost (lists grow), or what its
 * source declares when there was none. Targets that the upstream does not offer are asked once a day. Answers that never
 * change are not asked again once they are recorded. The times of sweeps follow from the time alone.
 */
export async function forecast(
  sql: postgres.Sql,
  feeds: readonly Watched[],
  now: number,
): Promise<Forecast[]> {
  const watched = feeds.filter(({ targets }) => targets.length > 0);
  return Promise.all(
    watched.map(async (feed) =>
      forecastOf(feed, await loadStates(sql, feed), await lastLooks(sql, feed), now),
    ),
  );
}

function forecastOf(
  feed: Watched,
  states: TargetStates,
  looks: ReadonlyMap<string, Look>,
  now: number,
): Forecast {
  const { source, datasets, targets, every } = feed;
  const asked = targets.map((target) => {
    const joint = jointState(feed, states, target);
    const wanted = datasets.map((dataset) => ({ ...dataset, state: stateOf(states, target, dataset.name) }));
    return { target, joint, wanted, cost: pollCost(feed, target, joint, looks.get(targetKey(target)), now) };
  });
  const cost = (calls: number): Cost => ({ calls, units: calls * source.weight });
  const within = (span: number) => {
    let [polls, sweeps] = [0, 0];
    for (const { target, joint, wanted, cost } of asked) {
      // Datasets that are due at once share the call.
      const due = new Set(wanted.flatMap(({ state, every }) => ticks(feed, state, every, now, now + span)));
      for (const tick of due) {
        polls += cost;
        sweeps += cost * sweepWindows(feed, target, joint, tick).length;
      }
    }
    return { polls, sweeps };
  };
  const [hour, day] = [within(HOUR), within(DAY)];
  return {
    datasets: datasets.map(({ name }) => name),
    upstream: source.upstream,
    targets: targets.length,
    every,
    round: cost(
      asked
        .filter(({ joint }) => !joint.notOffered && !isDone(feed, joint))
        .reduce((sum, one) => sum + one.cost, 0),
    ),
    hour: cost(hour.polls + hour.sweeps),
    day: cost(day.polls + day.sweeps),
    sweepsOfDay: day.sweeps,
  };
}

/** The answer never changes and is recorded. */
const isDone = ({ source }: Watched, state: TargetState) =>
  source.once === true && state.lastSuccess !== null;

/** When a dataset is polled after `now` and until `until`: what is late at once, the others an interval after their last. */
function ticks(feed: Watched, state: TargetState, every: number, now: number, until: number): number[] {
  if (isDone(feed, state)) return [];
  const step = state.notOffered ? NOT_OFFERED_AGAIN + 1 : every;
  const last = state.notOffered ? state.lastFailure : state.lastSuccess;
  const isLate = last === null || last > now || last + step <= now;
  const found: number[] = [];
  if (isLate) for (let tick = now; tick < until; tick += step) found.push(tick);
  else for (let tick = last + step; tick <= until; tick += step) found.push(tick);
  return feed.source.once ? found.slice(0, 1) : found;
}

/** The calls of the next poll of a target: those of the last one if it was comparable, otherwise what the source declares. */
function pollCost(
  feed: Watched,
  target: Target,
  state: TargetState,
  last: Look | undefined,
  now: number,
): number {
  const { source } = feed;
  if (!last || !source.range) return last?.requests ?? source.calls;
  const [next] = missingWindows(feed, target, state, now + feed.every);
  return next && last.window && isComparable(source.range.axis, last.window, next)
    ? last.requests
    : source.calls;
}

/** Whether two windows need about as many calls. For heights only the first recording, which may be very long, differs. */
function isComparable(axis: 'time' | 'height', last: Window, next: Window): boolean {
  if (axis === 'height') return last.from > 0 && last.from < OPEN_END - 1;
  return last.to - last.from <= COMPARABLE * (next.to - next.from);
}

/** The last complete poll of each target of a feed, by target key. */
async function lastLooks(sql: postgres.Sql, { source }: Watched): Promise<Map<string, Look>> {
  const rows = await sql<
    { target_key: string; requests: number; window_from: string | null; window_to: string | null }[]
  >`
    select target_key, look_requests as requests, look_from as window_from, look_to as window_to
    from recorder.targets where source = ${source.name} and look_requests is not null`;
  return new Map(
    rows.map(({ target_key, requests, window_from, window_to }) => [
      target_key,
      {
        requests,
        window:
          window_from === null || window_to === null
            ? null
            : { from: Number(window_from), to: Number(window_to) },
      },
    ]),
  );
}
