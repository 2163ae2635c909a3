/** A day of a series: `at` in ms since 1970. */
export interface Day {
  readonly at: number;
  readonly value: number;
}

/** A change of level. */
export interface Break {
  /** The first day of the new level, ms since 1970. */
  readonly at: number;
  /** The medians of the four weeks before and after. */
  readonly before: number;
  readonly after: number;
  /** How many times the usual move of the level from week to week the change is. */
  readonly strength: number;
}

const DAY = 86_400_000;
const WEEK = 7 * DAY;
/** Weeks of each side. Whole weeks, so that a weekday weighs the same on both. */
const WEEKS = 4;
/** Of a week so many days have to be there, and of a side so many weeks: what is missing is no level. */
const DAYS_OF_WEEK = 4;
const WEEKS_OF_SIDE = 3;
/** A calm series changes its level by a quarter at least; what moves more from week to week, by so many times that. */
const SMALLEST = Math.log(1.25);
const TIMES_USUAL = 4;
/** A level that moves by three quarters and more is believed a little earlier. */
const LARGE = Math.log(1.75);
const TIMES_USUAL_OF_LARGE = 3;
/** The usual move is measured over so many weeks before and after: a year, where there is one. */
const USUAL_OVER = 26;
/** Of the change, so much happens between the last week before and the first one after: growth does not. */
const AT_ONCE = 0.6;
/** Counts that are nearly nothing jump by chance: the larger level has to be so much, in counts of its noise. */
const NOISES = 4;

/**
 * Finds when the level of a series changed for good: four weeks on another level than the four weeks before, at once, and by
 * more than the series moves anyway. Levels are medians of weeks, in logarithms: a day that is wrong, an outage, weekends and
 * slow growth are no change of level.
 * @param days in order, each day at most once; days may be missing
 */
export function breaksOf(days: readonly Day[]): Break[] {
  const values = new Map(days.map(({ at, value }) => [at, value]));
  const floor = 0.01 * median(days.map(({ value }) => value).filter((value) => value > 0));
  if (!(floor > 0)) return [];
  const level = (from: number): number | null => {
    const week = Array.from({ length: 7 }, (_, at) => values.get(from + at * DAY)).filter(
      (value) => value !== undefined,
    );
    return week.length < DAYS_OF_WEEK ? null : median(week);
  };
  const levels = memo(level);
  const candidates = days.flatMap(({ at }) => change(levels, at, floor) ?? []);
  return strongest(candidates).map((one) => ({ ...one, at: firstDay(values, one, floor) }));
}

interface Candidate extends Break {
  /** The change of the level, in logarithms. */
  readonly change: number;
}

/** The change of level at a day, if there is one. */
function change(levels: (from: number) => number | null, at: number, floor: number): Candidate | null {
  const weeks = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, week) => levels(at + (from + week) * WEEK));
  const logs = (from: number, to: number) =>
    weeks(from, to).map((level) => (level === null ? null : Math.log(level + floor)));
  const [before, after] = [present(logs(-WEEKS, 0)), present(logs(0, WEEKS))];
  if (before.length < WEEKS_OF_SIDE || after.length < WEEKS_OF_SIDE) return null;
  const moved = median(after) - median(before);
  const separate =
    moved > 0 ? Math.min(...after) > Math.max(...before) : Math.max(...after) < Math.min(...before);
  const [last] = logs(-1, 0);
  const [first] = logs(0, 1);
  if (!separate || typeof last !== 'number' || typeof first !== 'number') return null;
  if ((first - last) / moved < AT_ONCE) return null;
  const { growth, distance } = usualMoves(logs(-USUAL_OVER, 0), logs(0, USUAL_OVER));
  const changed = moved - WEEKS * growth;
  const [was, is] = [median(present(weeks(-WEEKS, 0))), median(present(weeks(0, WEEKS)))];
  const counted = Number.isInteger(was) && Number.isInteger(is);
  const least = Math.max(
    SMALLEST,
    Math.min(TIMES_USUAL * distance, Math.max(TIMES_USUAL_OF_LARGE * distance, LARGE)),
    // What is counted by chance moves by the root of it.
    counted ? NOISES / Math.sqrt(Math.max(was, is)) : 0,
  );
  // With growth and without it: growth is but an estimate.
  if (Math.min(Math.abs(moved), changed * Math.sign(moved)) < least) return null;
  const strength = Math.abs(changed) / Math.max(distance, 1e-3);
  return { at, before: was, after: is, change: moved, strength };
}

/**
 * How far a level usually grows from one week to the next, and how far it is from where it is then expected: from the week
 * before, or from the middle of its own side, whichever is more. Robust, so that a few odd weeks do not count.
 */
function usualMoves(
  before: readonly (number | null)[],
  after: readonly (number | null)[],
): { growth: number; distance: number } {
  const moves = [before, after].flatMap((side) =>
    side.flatMap((level, week) => {
      const next = side[week + 1];
      return level === null || next === null || next === undefined ? [] : [next - level];
    }),
  );
  const growth = median(moves);
  const distances = [before, after].flatMap((side) => {
    const flat = present(side.map((level, week) => (level === null ? null : level - growth * week)));
    const middle = median(flat);
    return flat.map((level) => Math.abs(level - middle));
  });
  const jitter = median(moves.map((move) => Math.abs(move - growth)));
  return { growth, distance: 1.4826 * Math.max(jitter, median(distances)) };
}

/** Of the days around one change, which all look changed, the one where it is largest. */
function strongest(candidates: readonly Candidate[]): Candidate[] {
  const left = candidates.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.at - b.at);
  const found: Candidate[] = [];
  for (const one of left) if (found.every(({ at }) => Math.abs(at - one.at) >= WEEKS * WEEK)) found.push(one);
  return found.sort((a, b) => a.at - b.at);
}

/**
 * The day on which a change happened: of the days within a week the one that best parts those that are nearer to the old
 * level from those that are nearer to the new one. Each weekday has levels of its own.
 */
function firstDay(values: ReadonlyMap<number, number>, { at, change: by }: Candidate, floor: number): number {
  const log = (value: number) => Math.log(value + floor);
  const expected = memo((weekday: number) => {
    const of = (from: number) =>
      present(
        Array.from({ length: WEEKS - 1 }, (_, week) => values.get(weekday + (from + week) * WEEK) ?? null),
      ).map(log);
    // The weeks next to the change may be on either side of it.
    const all = [...of(-WEEKS - 1), ...of(2).map((value) => value - by)];
    return all.length === 0 ? null : median(all);
  });
  /** How much nearer a day is to the old level than to the new one. */
  const old = (day: number) => {
    const value = values.get(day);
    const usual = expected(at + (((((day - at) / DAY) % 7) + 7) % 7) * DAY);
    if (value === undefined || usual === null) return 0;
    return Math.abs(log(value) - usual - by) - Math.abs(log(value) - usual);
  };
  let [best, most, sum] = [at - WEEK, 0, 0];
  for (let day = at - WEEK; day < at + WEEK; day += DAY) {
    sum += old(day);
    if (sum > most) [best, most] = [day + DAY, sum];
  }
  return best;
}

const present = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

/** NaN for no values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function memo<T>(of: (key: number) => T): (key: number) => T {
  const known = new Map<number, T>();
  return (key) => {
    const value = known.get(key) ?? of(key);
    known.set(key, value);
    return value;
  };
}
