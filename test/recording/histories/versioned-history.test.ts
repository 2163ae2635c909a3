import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Range } from '../../../src/datasets/contract.ts';
import { averageTps } from '../../../src/datasets/metrics/average-tps.ts';
import { metricPoints } from '../../../src/datasets/metrics/metric-points.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
const day = 86_400_000;

/** Every complete poll is accepted here; absence.test.ts tests the others. */
const confirmShrink = { observations: 1, minDuration: 0 };

/** The upstream: values by key. */
type Values = ReadonlyMap<number, number>;

/** A response: its values, and whether it is complete. */
interface Step {
  readonly values: Values;
  readonly whole: boolean;
  /** Milliseconds since the previous step; negative if the clock was set back. */
  readonly after: number;
}

const values = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 2 })), {
    selector: ([key]) => key,
    maxLength: 5,
  })
  .map((pairs): Values => new Map(pairs));
const steps = (after: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({ values, whole: fc.boolean().map((one) => one), after }).map((step): Step => step),
    { minLength: 1, maxLength: 9 },
  );
const forwards = steps(fc.integer({ min: 1, max: 100_000 }));
const backwards = steps(fc.integer({ min: -50_000, max: 60_000 }));

/** The plain truth: the known values after each step. Only a complete response proves an absence. */
function knownAfter(all: readonly Step[]): Values[] {
  let current: Values = new Map();
  return all.map(({ values, whole }) => {
    current = whole ? values : new Map([...current, ...values]);
    return current;
  });
}

/** Every value of a key, in order, without equal neighbours; null: it was absent. */
function sequence(states: readonly Values[], key: number): (number | null)[] {
  const values = states.map((one) => one.get(key) ?? null);
  const changes = values.filter((value, at) => value !== (at === 0 ? null : values[at - 1]));
  return changes;
}

/** Returns the number of keys whose value changed, appeared or disappeared. */
const countChanges = (before: Values, after: Values) =>
  keysOf([before, after]).filter((key) => before.get(key) !== after.get(key)).length;

const keysOf = (states: readonly Values[]) => [...new Set(states.flatMap((one) => [...one.keys()]))];
const sorted = (one: Values) => [...one].sort(([a], [b]) => a - b);

interface Version {
  readonly key: number;
  readonly value: number;
  readonly from: string;
  readonly to: string | null;
  /** Reason of the end of a member's version; undefined: points have none. */
  readonly ended_by?: string | null;
}

/** A kind of versioned history under test: its input, and its rows in `reporting`. */
interface Subject {
  record(clock: ManualClock, step: Step): Promise<number>;
  asOf(instant: number): Promise<[number, number][]>;
  /** Current rows. */
  current(): Promise<[number, number][]>;
  /** All versions, oldest first by key, times as text to the microsecond. */
  versions(): Promise<Version[]>;
}

let subjects = 0;

/** Whether an as-of function fails without a record of the dataset, instead of returning no rows. */
function emptyIfUnrecorded(error: unknown): [number, number][] {
  if (String(error).includes('there is no record of')) return [];
  throw error;
}

function createStateSubject(): Subject {
  subjects += 1;
  const subnetId = `subnet-${subjects}`;
  const feed = scriptedFeed(validators, { node: 'n', subnetId }, { confirmShrink });
  const pairs = (rows: readonly { key: number; value: number }[]) =>
    rows.map(({ key, value }): [number, number] => [key, value]);
  return {
    async record(clock, { values, whole }) {
      const list = [...values].map(([key, value]) => ({
        nodeID: `node-${key}`,
        startTime: 1,
        weight: value,
      }));
      feed.script = () => onlyPage({ validators: list }, { whole });
      const { rowsWritten } = await run(recordingContext(sql, clock.read), feed);
      return rowsWritten[0] ?? 0;
    },
    asOf: async (instant) =>
      pairs(
        await sql<{ key: number; value: number }[]>`
          select split_part(node_id, '-', 2)::int as key, weight::int as value
          from reporting.node_validators_as_of(${new Date(instant)}) where subnet_id = ${subnetId} order by 1`,
      ),
    current: async () =>
      pairs(
        await sql<{ key: number; value: number }[]>`
          select split_part(node_id, '-', 2)::int as key, weight::int as value
          from reporting.node_validators where subnet_id = ${subnetId} order by 1`,
      ),
    versions: async () => [
      ...(await sql<Version[]>`
        select split_part(node_id, '-', 2)::int as key, weight::int as value,
          to_char(valid_from, 'YYYY-MM-DD HH24:MI:SS.US') as from, to_char(valid_to, 'YYYY-MM-DD HH24:MI:SS.US') as to,
          ended_by
        from reporting.node_validators_history where subnet_id = ${subnetId} order by 1, valid_from`),
    ],
  };
}

/** 2020-01-01, in days since 1970: no point is older. */
const FIRST_DAY = 18_262;

function createSeriesSubject(): Subject {
  subjects += 1;
  const chainId = `chain-${subjects}`;
  const feed = scriptedFeed(averageTps, { chainId });
  const pairs = (rows: readonly { key: number; value: number }[]) =>
    rows.map(({ key, value }): [number, number] => [key, value]);
  return {
    async record(clock, { values, whole }) {
      const results = [...values].map(([key, value]) => ({ timestamp: (FIRST_DAY + key) * 86_400, value }));
      feed.script = () => onlyPage({ results }, { whole });
      const { rowsWritten } = await run(recordingContext(sql, clock.read), feed);
      return rowsWritten[0] ?? 0;
    },
    asOf: async (instant) =>
      pairs(
        await sql<{ key: number; value: number }[]>`
          select (extract(epoch from bucket_start) / 86400)::int - ${FIRST_DAY}::int as key, value::int
          from reporting.average_tps_as_of(${new Date(instant)}) where chain_id = ${chainId} order by 1`,
      ),
    current: async () =>
      pairs(
        await sql<{ key: number; value: number }[]>`
          select (extract(epoch from bucket_start) / 86400)::int - ${FIRST_DAY}::int as key, value::int
          from reporting.average_tps where chain_id = ${chainId} order by 1`,
      ),
    versions: async () => [
      ...(await sql<Version[]>`
        select (extract(epoch from bucket_start) / 86400)::int - ${FIRST_DAY}::int as key, value::int,
          to_char(valid_from, 'YYYY-MM-DD HH24:MI:SS.US') as from,
          to_char(valid_to, 'YYYY-MM-DD HH24:MI:SS.US') as to
        from reporting.average_tps_history where chain_id = ${chainId} order by 1, valid_from`),
    ],
  };
}

describe.each([
  ['state', createStateSubject],
  ['series', createSeriesSubject],
])('%s', (_, createSubject) => {
  it('returns at every past moment the values known then, and now the current ones', async () => {
    await fc.assert(
      fc.asyncProperty(forwards, async (all) => {
        const subject = createSubject();
        const clock = new ManualClock(start);
        const instants: number[] = [];
        const written: number[] = [];
        for (const step of all) {
          clock.now += step.after;
          instants.push(clock.now);
          written.push(await subject.record(clock, step));
        }
        const states = knownAfter(all);
        expect(written).toEqual(states.map((now, at) => countChanges(states[at - 1] ?? new Map(), now)));
        for (const [at, instant] of instants.entries())
          expect(await subject.asOf(instant)).toEqual(sorted(states[at] ?? new Map()));
        expect(await subject.asOf(start).catch(emptyIfUnrecorded)).toEqual([]);
        expect(await subject.current()).toEqual(sorted(states.at(-1) ?? new Map()));
        const versions = await subject.versions();
        const times = versions.flatMap(({ from, to }) => (to === null ? [from] : [from, to]));
        const isInstant = (time: string) => instants.includes(Date.parse(`${time.slice(0, 23)}Z`));
        expect(times.filter((time) => !time.endsWith('000') || !isInstant(time))).toEqual([]);
        for (const key of keysOf(states)) {
          const keyVersions = versions.filter((version) => version.key === key);
          // A hole between two versions is the time of an absence.
          const recordedValues = keyVersions.flatMap(({ value, to }, index) => {
            const next = keyVersions[index + 1];
            return to !== null && next?.from !== to ? [value, null] : [value];
          });
          expect(recordedValues).toEqual(sequence(states, key));
          keyVersions.forEach(({ to, ended_by }, index) => {
            const hasChanged = to !== null && keyVersions[index + 1]?.from === to;
            if (ended_by !== undefined) expect(ended_by).toBe(to && (hasChanged ? 'changed' : 'gone'));
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never goes backwards, even if the clock does: no version overlaps another', async () => {
    await fc.assert(
      fc.asyncProperty(backwards, async (all) => {
        const subject = createSubject();
        const clock = new ManualClock(start);
        for (const step of all) {
          clock.now += step.after;
          await subject.record(clock, step);
        }
        const states = knownAfter(all);
        expect(await subject.current()).toEqual(sorted(states.at(-1) ?? new Map()));
        const versions = await subject.versions();
        versions.forEach(({ key, from, to }, at) => {
          if (to !== null) expect(from < to, `${from} before ${to}`).toBe(true);
          const next = versions[at + 1];
          if (next?.key !== key) return;
          expect(to, 'a version that another follows has ended').not.toBeNull();
          expect(String(to) <= next.from, `${to} not after ${next.from}`).toBe(true);
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('a series of windows', () => {
  const range: Range = { axis: 'time', span: () => 10 * day, head: () => day, settle: 0, lookback: 30 * day };

  it('marks as vanished only points inside the fetched window', async () => {
    const feed = scriptedFeed(
      metricPoints,
      { chainId: 'windows', metric: 'txCount', timeInterval: 'day' },
      { range },
    );
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const points = (...days: number[]) => ({
      results: days.map((one) => ({ timestamp: (start - one * day) / 1000, value: one })),
    });
    const ago = (from: number, to: number) => ({ from: start - from * day, to: start - to * day });
    feed.script = (window) => onlyPage(points(9, 8, 6, 5, 3, 1), { proven: window });
    await run(context, feed, ago(10, 0));
    clock.now += 1000;
    // The upstream returns slightly more than requested, and no longer contains days 6 and 5.
    feed.script = (window) => onlyPage(points(9, 3), { proven: window });
    expect(await run(context, feed, ago(6, 3))).toMatchObject({ status: 'done', rowsWritten: [2] });
    const rows = await sql<{ value: number; vanished: boolean }[]>`
      select value::int, vanished from reporting.metric_points_history
      where chain_id = 'windows' order by value`;
    expect([...rows]).toEqual([
      { value: 1, vanished: false },
      { value: 3, vanished: false },
      { value: 5, vanished: true },
      { value: 6, vanished: true },
      { value: 8, vanished: false },
      { value: 9, vanished: false },
    ]);
    for (const relation of ['metric_points', `metric_points_as_of(now())`]) {
      const current = await sql.unsafe(
        `select value::int from reporting.${relation} where chain_id = 'windows' order by value`,
      );
      expect(
        current.map(({ value }) => value),
        relation,
      ).toEqual([1, 3, 8, 9]);
    }
  });

  it('treats a value with other digits as another value only if it differs', async () => {
    const feed = scriptedFeed(averageTps, { chainId: 'digits' });
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const written = [];
    for (const value of ['1.5', '1.50', '1.5000000000000000000001', '15e-1']) {
      clock.now += 1000;
      feed.script = () => onlyPage({ results: [{ timestamp: FIRST_DAY * 86_400, value }] });
      written.push((await run(context, feed)).rowsWritten[0]);
    }
    expect(written).toEqual([1, 0, 1, 1]);
  });
});
