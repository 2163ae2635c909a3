import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { claimRun } from '../../src/recording/claim-run.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  failingWalk,
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const minute = 60_000;
const start = Date.UTC(2026, 0, 10);

let nodes = 0;
function createFeed(): ScriptedFeed {
  nodes += 1;
  const feed = scriptedFeed(nodeIdentity, { node: `n${nodes}` }, { every: minute });
  feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
  return feed;
}

const minutes = (at: Date | null) => Math.round(((at?.getTime() ?? 0) - start) / minute);

/** The coverage of a target in `reporting`, in whole minutes from the start. */
async function selectCoverage(feed: ScriptedFeed) {
  const ranges = async (view: 'coverage' | 'gaps') => {
    const rows = await sql<{ range_start: Date; range_end: Date; reason: string }[]>`
      select range_start, range_end, reason from reporting.${sql(view)}
      where target = ${`node=${feed.targets[0]?.node}`} order by range_start`;
    return rows.map(({ range_start, range_end }) => [minutes(range_start), minutes(range_end)]);
  };
  return { coverage: await ranges('coverage'), gaps: await ranges('gaps') };
}

async function recordObservations(feed: ScriptedFeed, ...at: number[]) {
  const clock = new ManualClock(start);
  const context = recordingContext(sql, clock.read);
  for (const one of at) {
    clock.now = start + one * minute;
    await run(context, feed);
  }
}

describe('the coverage of observations', () => {
  it('has one gap around a single observation, and two where the reasons differ', async () => {
    const feed = createFeed();
    await recordObservations(feed, 0, 10, 20, 30);
    expect((await selectCoverage(feed)).gaps).toEqual([[0, 30]]);
    feed.script = failingWalk('refused', 'the call failed');
    await recordObservations(feed, 35);
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
    await recordObservations(feed, 40);
    expect(await selectCoverage(feed)).toEqual({
      coverage: [0, 10, 20, 30, 40].map((at) => [at, at]),
      gaps: [
        [0, 30],
        [30, 40],
      ],
    });
  });

  it('excludes a failed run, and includes a run with an incomplete list', async () => {
    const feed = createFeed();
    await recordObservations(feed, 0);
    feed.script = failingWalk('refused', 'the call failed');
    await recordObservations(feed, 1, 2, 3);
    expect(await selectCoverage(feed)).toEqual({ coverage: [[0, 0]], gaps: [] });
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' }, { whole: false });
    await recordObservations(feed, 4);
    expect((await selectCoverage(feed)).gaps).toEqual([[0, 4]]);
  });

  it('is missing because the recorder did not run if a run was killed, or by the error of the runs that failed before', async () => {
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const killRun = async (feed: ScriptedFeed, at: number) => {
      const startedAt = new Date(start + at * minute).toISOString();
      const [target] = feed.targets;
      if (!target) throw new Error('the feed has no target');
      await claimRun(sql, feed, { target, window: null, reason: 'poll' }, 'killed', startedAt);
      await sql`update recorder.targets set lease_until = now() - interval '1 s' where source = ${feed.source.name}`;
    };
    const reasons = async (feed: ScriptedFeed) => {
      const rows = await sql<{ reason: string }[]>`
        select reason from reporting.gaps where target = ${`node=${feed.targets[0]?.node}`}`;
      return rows.map(({ reason }) => reason);
    };

    const killed = createFeed();
    await recordObservations(killed, 0);
    await killRun(killed, 1);
    await killRun(killed, 2);
    await recordObservations(killed, 10);
    expect(await reasons(killed)).toEqual(['not observed: the recorder did not run']);

    for (const [kind, message] of [
      ['refused', 'the connection was refused (ECONNREFUSED)'],
      ['auth', 'HTTP 401'],
      ['identity', 'another node: NodeID-2 answers'],
    ] as const) {
      const failing = createFeed();
      const { script } = failing;
      await recordObservations(failing, 0);
      await killRun(failing, 1);
      failing.script = failingWalk(kind, message);
      clock.now = start + 2 * minute;
      await run(context, failing);
      await killRun(failing, 3);
      failing.script = script;
      await recordObservations(failing, 10);
      expect(await reasons(failing)).toEqual([
        `not observed: the runs failed, the last one with: ${message}`,
      ]);
    }
  });

  it('is missing while the configuration did not contain the target, however short that was', async () => {
    const feed = createFeed();
    await registerTargets(sql, feed, start);
    await recordObservations(feed, 0, 1);
    await registerTargets(sql, { ...feed, targets: [] }, start + 1.2 * minute);
    await registerTargets(sql, feed, start + 1.8 * minute);
    await recordObservations(feed, 2, 3);
    expect(await selectCoverage(feed)).toEqual({
      coverage: [
        [0, 1],
        [2, 3],
      ],
      gaps: [[1, 2]],
    });
    const reasons =
      await sql`select reason from reporting.gaps where target = ${`node=${feed.targets[0]?.node}`}`;
    expect([...reasons]).toEqual([{ reason: 'not observed: the configuration did not contain it' }]);
  });

  it.for([1.5, 90])(
    'ends at the clock of the database if that of the process is %s minutes ahead',
    async (ahead) => {
      const feed = createFeed();
      const now = (Date.now() - start) / minute;
      await recordObservations(feed, now - 1, now + ahead);
      const [ranges] = await sql<{ coverage: boolean; gaps: boolean }[]>`
      select bool_or(range_end > clock_timestamp()) as coverage,
        (select bool_or(range_end > clock_timestamp()) from reporting.gaps where target = c.target) as gaps
      from reporting.coverage c where target = ${`node=${feed.targets[0]?.node}`} group by target`;
      expect(ranges).toEqual({ coverage: false, gaps: null });
      // A process whose clock is right continues.
      await recordObservations(feed, now + 0.5);
      expect((await selectCoverage(feed)).gaps).toEqual([]);
    },
  );

  it('never goes backwards when the clock does', async () => {
    const feed = createFeed();
    await recordObservations(feed, 100, 101, 40, 41, 102);
    const { coverage, gaps } = await selectCoverage(feed);
    expect(coverage.at(-1)).toEqual([100, 102]);
    expect(gaps).toEqual([]);
  });

  it('tiles with the gaps the time from the first to the last, whatever the pauses', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
        async (pauses) => {
          const feed = createFeed();
          const at = [0];
          for (const pause of pauses) at.push((at.at(-1) ?? 0) + pause);
          await recordObservations(feed, ...at);
          const { coverage, gaps } = await selectCoverage(feed);
          // Pauses that follow one another are one gap.
          const expected = pauses.reduce<[number, number][]>((ranges, pause, index) => {
            const from = at[index] ?? 0;
            if (pause <= 2) return ranges;
            const last = ranges.at(-1);
            if (last?.[1] === from) last[1] = from + pause;
            else ranges.push([from, from + pause]);
            return ranges;
          }, []);
          expect(gaps).toEqual(expected);
          const covered = at.reduce<[number, number][]>((ranges, one) => {
            const last = ranges.at(-1);
            if (last && one - last[1] <= 2) last[1] = one;
            else ranges.push([one, one]);
            return ranges;
          }, []);
          expect(coverage).toEqual(covered);
        },
      ),
      { numRuns: 25 },
    );
  });
});
