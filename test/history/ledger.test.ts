import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeHealth } from '../../src/datasets/node/node-health.ts';
import { ManualClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/recording.ts';

let database: TestDatabase;
let sql: postgres.Sql;
const start = Date.UTC(2026, 0, 10);
const minute = 60_000;
/** A state is believed for two and a half intervals. */
const believed = 2.5 * minute;

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

/** What a probe said, and how long after the one before. */
interface Probe {
  readonly says: 'up' | 'down' | 'unreachable' | 'nobody could tell';
  readonly after: number;
}

const answers: Readonly<Record<Probe['says'], unknown>> = {
  up: { healthy: true },
  down: { healthy: false },
  unreachable: { failure: 'the call failed (ECONNREFUSED)', nodesFault: true },
  'nobody could tell': { failure: 'the call failed (ENOTFOUND)', nodesFault: false },
};
const states: Readonly<Record<Probe['says'], string>> = {
  up: 'up',
  down: 'down: failing: no check named',
  unreachable: 'down: the call failed (ECONNREFUSED)',
  'nobody could tell': 'unknown: the call failed (ENOTFOUND)',
};

let nodes = 0;

async function recorded(probes: readonly Probe[]) {
  nodes += 1;
  const node = `node-${nodes}`;
  const feed = scriptedFeed(nodeHealth, { observer: 'o', node, probe: 'health' }, { every: minute });
  const clock = new ManualClock(start);
  const instants: number[] = [];
  for (const { says, after } of probes) {
    clock.now += after;
    instants.push(clock.now);
    feed.script = () => onlyPage(answers[says]);
    await run(recordingContext(sql, clock.read), feed);
  }
  const intervals = await sql<
    {
      state: string;
      error: string | null;
      from: string;
      to: string;
      started: Date;
      ended: Date;
      probes: number;
    }[]
  >`
    select state, error, started_at::text as from, ended_at::text as to, started_at as started, ended_at as ended,
      probes::int from recorder.node_health where node = ${node} order by started_at, id`;
  const [latest] = await sql<
    { state: string }[]
  >`select state from reporting.node_health where node = ${node}`;
  return { instants, intervals: [...intervals], latest: latest?.state };
}

/** The plain truth of a moment: what the last probe before it said, as long as that may be believed. */
function truth(probes: readonly Probe[], instants: readonly number[], moment: number): string {
  const at = instants.findLastIndex((instant) => instant <= moment);
  const probe = probes[at];
  if (!probe) return 'before';
  const next = instants[at + 1] ?? Number.POSITIVE_INFINITY;
  if (probe.says === 'nobody could tell' || next - (instants[at] ?? 0) <= believed) return states[probe.says];
  return 'unknown: nobody looked';
}

const says = fc.constantFrom<Probe['says'][]>('up', 'up', 'down', 'unreachable', 'nobody could tell');
const probes = (after: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({ says, after }).map((probe): Probe => probe),
    { minLength: 1, maxLength: 12 },
  );

describe('ledger', () => {
  it('tells of every moment what the last probe said, and unknown where nobody looked for too long', async () => {
    const pause = fc.constantFrom(minute, 2 * minute, believed, believed + 1, 10 * minute);
    await fc.assert(
      fc.asyncProperty(probes(pause), async (all) => {
        const { instants, intervals } = await recorded(all);
        const end = instants.at(-1) ?? start;
        for (let moment = instants[0] ?? end; moment < end; moment += minute / 4) {
          const holding = intervals.filter(
            ({ started, ended }) => started.getTime() <= moment && moment < ended.getTime(),
          );
          expect(holding.map(({ state, error }) => (error === null ? state : `${state}: ${error}`))).toEqual([
            truth(all, instants, moment),
          ]);
        }
        expect(intervals.reduce((sum, interval) => sum + interval.probes, 0)).toBe(all.length);
      }),
      { numRuns: 60 },
    );
  });

  it('is a chain: every interval begins where the one before ended, and the last ends at the last probe', async () => {
    await fc.assert(
      fc.asyncProperty(probes(fc.integer({ min: 1, max: 6 * minute })), async (all) => {
        const { instants, intervals, latest } = await recorded(all);
        expect(intervals[0]?.started.getTime()).toBe(instants[0]);
        expect(intervals.at(-1)?.ended.getTime()).toBe(instants.at(-1));
        intervals.slice(1).forEach(({ from, state, error }, at) => {
          const before = intervals[at];
          expect(from).toBe(before?.to);
          expect([state, error]).not.toEqual([before?.state, before?.error]);
        });
        expect(latest).toBe(intervals.at(-1)?.state);
      }),
      { numRuns: 60 },
    );
  });

  it('stays a chain when the clock is set back, or does not move', async () => {
    await fc.assert(
      fc.asyncProperty(probes(fc.integer({ min: -3 * minute, max: 4 * minute })), async (all) => {
        const { intervals, latest } = await recorded(all);
        intervals.slice(1).forEach(({ from }, at) => {
          expect(from).toBe(intervals[at]?.to);
        });
        expect(intervals.reduce((sum, interval) => sum + interval.probes, 0)).toBe(all.length);
        const last = all.at(-1);
        expect(latest).toBe(last && states[last.says].split(':')[0]);
      }),
      { numRuns: 60 },
    );
  });

  it('holds one interval of a day without a change', async () => {
    const day = Array.from({ length: 100 }, (): Probe => ({ says: 'up', after: minute }));
    const { intervals } = await recorded(day);
    expect(intervals).toMatchObject([{ state: 'up', probes: 100 }]);
  });

  it('keeps checks of one report apart', async () => {
    const feed = scriptedFeed(
      nodeHealth,
      { observer: 'o', node: 'checks', probe: 'health' },
      { every: minute },
    );
    const clock = new ManualClock(start);
    const network = (error?: string) => ({ error, timestamp: '2026-01-10T00:00:00Z', message: { peers: 1 } });
    for (const error of [undefined, 'no peers', 'no peers', 'no peers at all', undefined]) {
      clock.now += minute;
      feed.script = () =>
        onlyPage({ healthy: error === undefined, checks: { network: network(error), bls: network() } });
      await run(recordingContext(sql, clock.read), feed);
    }
    const rows = await sql<{ check_name: string; state: string; error: string | null; probes: number }[]>`
      select check_name, state, error, probes::int from reporting.node_health_intervals
      where node = 'checks' order by check_name desc, started_at`;
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['network', 'up', null, 1],
      ['network', 'down', 'no peers', 2],
      ['network', 'down', 'no peers at all', 1],
      ['network', 'up', null, 1],
      ['bls', 'up', null, 5],
      ['*', 'up', null, 1],
      ['*', 'down', 'failing: network', 3],
      ['*', 'up', null, 1],
    ]);
  });
});
