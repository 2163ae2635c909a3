/** A day of a series and its value; `at` is the start of the day, in ms since 1970. */
export interface SeriesDay {
  readonly at: number;
  readonly value: number;
}

/** A level shift. */
export interface LevelShift {
  /** The first day of the new level, in ms since 1970. */
  readonly at: number;
  /** The median of the weekly levels in the four weeks before the shift. */
  readonly before: number;
  /** The median of the weekly levels in the four weeks after the shift. */
  readonly after: number;
  /** The change divided by the usual week-to-week change of the level. */
  readonly strength: number;
}

const DAY = 86_400_000;
const WEEK = 7 * DAY;
/** Number of weeks on each side of a shift. Whole weeks give each weekday the same weight on both sides. */
const WEEKS = 4;
/** Minimum number of days with values for the level of a week. Missing days are no level shift. */
const MIN_DAYS_PER_WEEK = 4;
/** Minimum number of weeks with a level on each side. */
const MIN_WEEKS_PER_SIDE = 3;
/** Minimum change of the level, as a logarithm: 25 %. */
const MIN_CHANGE = Math.log(1.25);
/** Minimum change, as a multiple of the usual week-to-week change. */
const MIN_USUAL_MULTIPLE = 4;
/** Large change, as a logarithm: 75 %. For large changes, {@link MIN_USUAL_MULTIPLE_OF_LARGE} is enough. */
const LARGE_CHANGE = Math.log(1.75);
/** Minimum of a large change, as a multiple of the usual week-to-week change. */
const MIN_USUAL_MULTIPLE_OF_LARGE = 3;
/**
 * Number of weeks on each side of a day from which the usual change is computed, in total one year. Only
 * recorded weeks are used.
 */
const USUAL_WEEKS = 26;
/**
 * Minimum share of the change that occurs between the last week before and the first week after the shift.
 * Slow growth has a smaller share.
 */
const MIN_SUDDEN_SHARE = 0.6;
/**
 * Minimum change of a count, as a multiple of the random noise of the larger level. Small counts change by
 * chance.
 */
const MIN_NOISE_MULTIPLE = 4;

/**
 * Finds permanent level shifts of a series: the level of four weeks differs from the level of the four weeks
 * before, the change was sudden, and the change exceeds the usual changes of the series. Levels are weekly
 * medians, compared as logarithms. So a wrong day, an outage, weekends and slow growth are no level shifts.
 * @param days in order, each day at most once; days may be missing
 */
export function findLevelShifts(days: readonly SeriesDay[]): LevelShift[] {
  const values = new Map(days.map(({ at, value }) => [at, value]));
  const floor = 0.01 * median(days.map(({ value }) => value).filter((value) => value > 0));
  if (!(floor > 0)) return [];
  const level = (from: number): number | null => {
    const week = Array.from({ length: 7 }, (_, at) => values.get(from + at * DAY)).filter(
      (value) => value !== undefined,
    );
    return week.length < MIN_DAYS_PER_WEEK ? null : median(week);
  };
  const levels = memo(level);
  const candidates = days.flatMap(({ at }) => change(levels, at, floor) ?? []);
  return strongest(candidates).map((one) => ({ ...one, at: firstDay(values, one, floor) }));
}

interface Candidate extends LevelShift {
  /** The change of the level, as a logarithm. */
  readonly change: number;
}

/** Returns the level shift at a day. Returns null if there is none. */
function change(levels: (from: number) => number | null, at: number, floor: number): Candidate | null {
  const weeks = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, week) => levels(at + (from + week) * WEEK));
  const logs = (from: number, to: number) =>
    weeks(from, to).map((level) => (level === null ? null : Math.log(level + floor)));
  const [before, after] = [present(logs(-WEEKS, 0)), present(logs(0, WEEKS))];
  if (before.length < MIN_WEEKS_PER_SIDE || after.length < MIN_WEEKS_PER_SIDE) return null;
  const moved = median(after) - median(before);
  const separate =
    moved > 0 ? Math.min(...after) > Math.max(...before) : Math.max(...after) < Math.min(...before);
  const [last] = logs(-1, 0);
  const [first] = logs(0, 1);
  if (!separate || typeof last !== 'number' || typeof first !== 'number') return null;
  if ((first - last) / moved < MIN_SUDDEN_SHARE) return null;
  const { growth, distance } = usualMoves(logs(-USUAL_WEEKS, 0), logs(0, USUAL_WEEKS));
  const changed = moved - WEEKS * growth;
  const [was, is] = [median(present(weeks(-WEEKS, 0))), median(present(weeks(0, WEEKS)))];
  const counted = Number.isInteger(was) && Number.isInteger(is);
  const least = Math.max(
    MIN_CHANGE,
    Math.min(MIN_USUAL_MULTIPLE * distance, Math.max(MIN_USUAL_MULTIPLE_OF_LARGE * distance, LARGE_CHANGE)),
    // The random noise of a count is its square root.
    counted ? MIN_NOISE_MULTIPLE / Math.sqrt(Math.max(was, is)) : 0,
  );
  // Growth is only an estimate, so the change must be large enough both with and without it.
  if (Math.min(Math.abs(moved), changed * Math.sign(moved)) < least) return null;
  const strength = Math.abs(changed) / Math.max(distance, 1e-3);
  return { at, before: was, after: is, change: moved, strength };
}

/**
 * Returns the usual growth of a level from one week to the next, and its usual distance from the expected
 * level. There are two expected levels: the level that follows from the week before, and the median of the
 * same side. The larger distance is returned. Both results are medians, so that a few unusual weeks have no
 * effect. All values are logarithms.
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
  // The factor 1.4826 converts a median deviation to a standard deviation.
  return { growth, distance: 1.4826 * Math.max(jitter, median(distances)) };
}

/** Keeps only the day with the largest change, because each day around a level shift is a candidate. */
function strongest(candidates: readonly Candidate[]): Candidate[] {
  const byChange = candidates.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.at - b.at);
  const found: Candidate[] = [];
  for (const one of byChange)
    if (found.every(({ at }) => Math.abs(at - one.at) >= WEEKS * WEEK)) found.push(one);
  return found.sort((a, b) => a.at - b.at);
}

/**
 * Returns the day of a change, at most one week before or after the candidate. The result is the day that
 * best separates the days near the old level from the days near the new level. The expected level is computed
 * for each weekday.
 */
function firstDay(values: ReadonlyMap<number, number>, { at, change: by }: Candidate, floor: number): number {
  const log = (value: number) => Math.log(value + floor);
  const expected = memo((weekday: number) => {
    const of = (from: number) =>
      present(
        Array.from({ length: WEEKS - 1 }, (_, week) => values.get(weekday + (from + week) * WEEK) ?? null),
      ).map(log);
    // The weeks next to the change are excluded: they may belong to either side.
    const all = [...of(-WEEKS - 1), ...of(2).map((value) => value - by)];
    return all.length === 0 ? null : median(all);
  });
  /**
   * Returns the distance of a day from the new level minus its distance from the old level. Positive if the
   * day is closer to the old level.
   */
  const nearnessToOld = (day: number) => {
    const value = values.get(day);
    const usual = expected(at + (((((day - at) / DAY) % 7) + 7) % 7) * DAY);
    if (value === undefined || usual === null) return 0;
    return Math.abs(log(value) - usual - by) - Math.abs(log(value) - usual);
  };
  let [best, most, sum] = [at - WEEK, 0, 0];
  for (let day = at - WEEK; day < at + WEEK; day += DAY) {
    sum += nearnessToOld(day);
    if (sum > most) [best, most] = [day + DAY, sum];
  }
  return best;
}

const present = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

/** Returns NaN for an empty list. */
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
