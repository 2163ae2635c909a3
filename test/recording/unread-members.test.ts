import fc from 'fast-check';
import { beforeEach, describe, expect } from 'vitest';
import type { Dataset } from '../../src/datasets/contract.ts';
import { chainHeights } from '../../src/datasets/node/chain-heights.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { lockRow } from '../../src/db/row-lock.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { computeKeptSince, planRetention, retain } from '../../src/retention/retention.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const KEEP = 7 * DAY;
const start = Date.UTC(2025, 0, 1);
const never = new AbortController().signal;

const { it, sql } = withDatabase({ max: 4, connection: { TimeZone: 'UTC' } });
beforeEach(async () => {
  clock.now = start;
  await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_open, recorder.reading_observations,
    recorder.reading_days, recorder.reading_kept, recorder.validator_uptime, recorder.chain_heights, recorder.retention,
    recorder.changes, recorder.runs, recorder.targets, recorder.target_datasets`;
});

const clock = new ManualClock(start);

/** A reading of a response. */
interface RecordedReading {
  readonly node: string;
  readonly id: string;
  readonly uptime: string | null;
  readonly at: number;
}

/** Polls the validators of a node. */
async function createObserver(node: string) {
  const feed = scriptedFeed(validatorUptime, { node, subnetId: 's' });
  await registerTargets(sql, feed, clock.now, { recorder: 'recorder', digest: null });
  return async (
    readings: readonly (readonly [id: string, uptime: string | null])[],
  ): Promise<RecordedReading[]> => {
    feed.script = () =>
      onlyPage({
        validators: readings.map(([nodeID, uptime]) => ({
          nodeID,
          connected: true,
          ...(uptime === null ? {} : { uptime }),
        })),
      });
    const at = clock.now;
    await run(recordingContext(sql, clock.read), feed);
    return readings.map(([id, uptime]) => ({ node, id, uptime, at }));
  };
}

const closeDaysNow = () => closeDays(sql, clock.now, never);
const retainNow = (name: Dataset['name'] = validatorUptime.name) =>
  retain(sql, { [name]: KEEP }, clock.now, never);

/** Runs the daily tasks, in order. */
async function runDailyTasks(): Promise<void> {
  await closeDaysNow();
  await retainNow();
}

/** Removes the part of the change feed that was read so far. */
const trimChangeFeed = () => sql`delete from recorder.changes`;

/** Runs an action while a commit is between its snapshot and its end. */
async function runDuringCommit<T>(commit: () => Promise<T>, action: () => Promise<unknown>): Promise<T> {
  const holding = await sql.reserve();
  try {
    await holding.unsafe(`begin; ${lockRow('changes')}`);
    const committed = commit();
    await Promise.race([waitUntilBlocked(sql), committed]);
    await action();
    await holding`commit`;
    return await committed;
  } finally {
    await holding`rollback`;
    holding.release();
  }
}

const formatReading = ({ node, id, uptime, at }: RecordedReading) =>
  `${node} ${id} ${uptime} ${new Date(at).toISOString()}`;
const formatReadings = (readings: readonly RecordedReading[]) => readings.map(formatReading).sort();

/** The readings of a view or function. */
async function selectReadings(from: string): Promise<string[]> {
  const rows = await sql.unsafe<{ node: string; id: string; uptime: string | null; at: Date }[]>(
    `select node, node_id as id, uptime::text, observed_at as at from ${from}`,
  );
  return formatReadings(rows.map(({ at, ...row }) => ({ ...row, at: at.getTime() })));
}

/** The averages by day; fractions as the view returns them. */
async function selectDailyCounts(): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select concat_ws(' ', node, node_id, day, uptime_readings) as text from reporting.validator_uptime_daily`;
  return rows.map(({ text }) => text).sort();
}

function expectedCounts(readings: readonly RecordedReading[]): string[] {
  const counts = new Map<string, number>();
  for (const { node, id, at, uptime } of readings) {
    const key = `${node} ${id} ${new Date(at).toISOString().slice(0, 10)}`;
    counts.set(key, (counts.get(key) ?? 0) + (uptime === null ? 0 : 1));
  }
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

/** The readings of the change feed that are kept. */
async function selectChanges(): Promise<string[]> {
  const rows = await sql<{ node: string; id: string; uptime: string | null; at: Date }[]>`
    select key ->> 'node' as node, key ->> 'node_id' as id, content ->> 'uptime' as uptime, happened_at as at
    from reporting.changes(null, 1000)`;
  return formatReadings(rows.map(({ at, ...row }) => ({ ...row, at: at.getTime() })));
}

const selectMembers = async (where = 'true') =>
  (
    await sql.unsafe<{ member: string }[]>(
      `select s.request[1] || ' ' || m.texts[1] as member from recorder.reading_members m
       join recorder.reading_scopes s using (scope_id) where ${where} order by 1, m.chunk, m.seat`,
    )
  ).map(({ member }) => member);
const selectLiveMembers = () => selectMembers('m.retired_at is null');

/** Every result of the kept range equals the recorded readings. */
async function expectReadings(readings: readonly RecordedReading[]): Promise<void> {
  const kept = readings.filter(({ at }) => at >= computeKeptSince(clock.now, KEEP));
  expect(await selectReadings('reporting.validator_uptime')).toEqual(formatReadings(kept));
  expect(await selectDailyCounts()).toEqual(expectedCounts(kept));
  for (const ago of [6, 3, 1.5, 0]) {
    const moment = Math.max(clock.now - ago * DAY, start);
    expect(
      await selectReadings(`reporting_internal.validator_uptime_as_of('${new Date(moment).toISOString()}')`),
    ).toEqual(formatReadings(kept.filter(({ at }) => at <= moment)));
  }
  const listed = await sql<
    { member: string }[]
  >`select node || ' ' || node_id as member from reporting_internal.validator_uptime_members`;
  const listedMembers = listed.map(({ member }) => member);
  expect(new Set(listedMembers).size).toBe(listedMembers.length);
  expect(listedMembers).toEqual(expect.arrayContaining(kept.map(({ node, id }) => `${node} ${id}`)));
}

const poll = fc.record({
  node: fc.constantFrom('a', 'b'),
  readings: fc.uniqueArray(
    fc.tuple(
      fc.integer({ min: 1, max: 12 }).map((one) => `NodeID-${one}`),
      // The last one cannot be packed: it remains a row.
      fc.constantFrom('99.1', '98.25', '0', null, '0.0000000000000000001'),
    ),
    { selector: ([id]) => id, minLength: 1, maxLength: 4 },
  ),
});
const day = fc.record({
  /** Since the previous day. */
  days: fc.constantFrom(1, 1, 2, 4, 8),
  polls: fc.array(poll, { minLength: 1, maxLength: 3 }),
  /** Whether members are retired while the first poll is being committed. */
  isConcurrent: fc.boolean(),
});

describe('a member without retained readings', () => {
  it('is removed, and a returning one is read as recorded', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(day, { minLength: 12, maxLength: 12 }), async (days) => {
          const observers = { a: await createObserver('a'), b: await createObserver('b') };
          const recorded = [
            ...(await observers.a([['NodeID-1', '1']])),
            ...(await observers.b([['NodeID-1', '1']])),
          ];
          const retiredCounts: number[] = [];
          for (const { days: elapsedDays, polls, isConcurrent } of days) {
            clock.now = Math.floor(clock.now / DAY) * DAY + elapsedDays * DAY + HOUR;
            for (const [at, one] of polls.entries()) {
              const commit = () => observers[one.node](one.readings);
              if (at > 0) recorded.push(...(await commit()));
              else if (isConcurrent) {
                await closeDaysNow();
                recorded.push(...(await runDuringCommit(commit, retainNow)));
              } else {
                await runDailyTasks();
                const knownMembers = new Set(recorded.map(({ node, id }) => `${node} ${id}`));
                expect([...knownMembers]).toEqual(expect.arrayContaining(await selectLiveMembers()));
                recorded.push(...(await commit()));
              }
              await expectReadings(recorded);
              clock.now += 5 * HOUR;
            }
            retiredCounts.push((await selectMembers('m.retired_at is not null')).length);
          }
          fc.pre(retiredCounts.some((count) => count > 0));
          // When the last reading is removed nothing of any member is left, and the next poll is read again.
          clock.now += 9 * DAY;
          await runDailyTasks();
          expect(await selectLiveMembers()).toEqual([]);
          await trimChangeFeed();
          clock.now += DAY;
          await runDailyTasks();
          expect(await selectMembers()).toEqual([]);
          await expectReadings([]);
          await expectReadings(await observers.a([['NodeID-1', '1']]));
        })
        .beforeEach(async () => {
          clock.now = start;
          await sql`truncate recorder.reading_scopes, recorder.reading_members, recorder.reading_open, recorder.reading_observations,
            recorder.reading_days, recorder.reading_kept, recorder.validator_uptime, recorder.retention, recorder.changes`;
        }),
      { numRuns: Number(process.env.TEST_WORLDS ?? 4), endOnFailure: true },
    );
  });

  it('is retired first, and removed a day later at the earliest; it does not count as a removed reading', async () => {
    const poll = await createObserver('a');
    await poll([
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
    ]);
    clock.now = start + 5 * DAY;
    await poll([['NodeID-2', '3']]);
    clock.now = start + 8 * DAY + HOUR;
    await closeDaysNow();
    expect(await planRetention(sql, { validator_uptime: KEEP }, clock.now)).toMatchObject([{ going: 2 }]);
    expect(await retainNow()).toMatchObject([{ removed: 2 }]);
    expect([await selectLiveMembers(), await selectMembers()]).toEqual([
      ['a NodeID-2'],
      ['a NodeID-1', 'a NodeID-2'],
    ]);
    // An earlier round, because the retention is shorter from now on.
    clock.now += 12 * HOUR;
    await retain(sql, { validator_uptime: KEEP - DAY }, clock.now, never);
    expect(await selectMembers()).toEqual(['a NodeID-1', 'a NodeID-2']);
    clock.now += 2 * DAY;
    await trimChangeFeed();
    expect(await retain(sql, { validator_uptime: KEEP - DAY }, clock.now, never)).toMatchObject([
      { removed: 0 },
    ]);
    expect(await selectMembers()).toEqual(['a NodeID-2']);
    expect(await sql`select removed::int from reporting_internal.retention`).toEqual([{ removed: 2 }]);
  });

  it('counts readings of days that are not closed, in the plan as in the removal', async () => {
    const poll = await createObserver('a');
    await poll([
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
    ]);
    clock.now = start + 9 * DAY;
    expect(await planRetention(sql, { validator_uptime: KEEP }, clock.now)).toMatchObject([{ going: 2 }]);
    expect(await retainNow()).toMatchObject([{ removed: 2 }]);
  });

  it('loses no reading of a poll that used its number while it was retired, until that reading expires', async () => {
    const poll = await createObserver('a');
    const recorded = await poll([['NodeID-1', '1']]);
    clock.now = start + 9 * DAY;
    await closeDaysNow();
    recorded.push(
      ...(await runDuringCommit(
        () => poll([['NodeID-1', '2']]),
        () => retainNow(),
      )),
    );
    expect([await selectLiveMembers(), await selectMembers()]).toEqual([[], ['a NodeID-1']]);
    await expectReadings(recorded);
    clock.now += HOUR;
    recorded.push(...(await poll([['NodeID-1', '3']])));
    // The first poll has the old number, the second one the new one, and the removal keeps both.
    expect(await selectMembers()).toEqual(['a NodeID-1', 'a NodeID-1']);
    await expectReadings(recorded);
    await retain(sql, { validator_uptime: KEEP }, clock.now + DAY, never);
    await expectReadings(recorded);
    clock.now += 2 * DAY;
    await trimChangeFeed();
    await runDailyTasks();
    await expectReadings(recorded);
    expect([await selectLiveMembers(), await selectMembers()]).toEqual([['a NodeID-1'], ['a NodeID-1']]);
    clock.now += 8 * DAY;
    await runDailyTasks();
    clock.now += DAY;
    await runDailyTasks();
    expect(await selectMembers()).toEqual([]);
  });

  it('has in the change feed the number that its poll used, also once another number has its reading', async () => {
    const poll = await createObserver('a');
    await poll([['NodeID-1', '1']]);
    clock.now = start + 9 * DAY;
    await closeDaysNow();
    await trimChangeFeed();
    const recorded = await runDuringCommit(
      () =>
        poll([
          ['NodeID-1', '2'],
          ['NodeID-2', '5'],
        ]),
      () => retainNow(),
    );
    clock.now += HOUR;
    recorded.push(...(await poll([['NodeID-1', '3']])));
    expect(await selectChanges()).toEqual(formatReadings(recorded));
    // Days are closed, and retired members removed, before a reader of the feed gets to these polls.
    for (let days = 0; days < 3; days++) {
      clock.now += DAY;
      await runDailyTasks();
      expect(await selectChanges()).toEqual(formatReadings(recorded));
    }
    expect(await selectMembers()).toEqual(['a NodeID-1', 'a NodeID-1', 'a NodeID-2']);
    await trimChangeFeed();
    clock.now += DAY;
    await runDailyTasks();
    expect(await selectMembers()).toEqual(['a NodeID-1', 'a NodeID-2']);
  });

  it('is kept as long as the change feed includes its poll, which continues past removed polls', async () => {
    const poll = await createObserver('a');
    await poll([
      ['NodeID-2', '2'],
      ['NodeID-1', '1'],
      // Remains a row, and is removed in another statement.
      ['NodeID-0', '0.0000000000000000001'],
    ]);
    clock.now = start + 5 * DAY;
    await poll([['NodeID-2', '3']]);
    const readFeed = async () => {
      const entries: [cursor: string, id: string | null, uptime: string | null | undefined][] = [];
      for (let after: string | null = null; ; after = entries.at(-1)?.[0] ?? null) {
        const [next] = await sql<{ cursor: string; id: string | null; content: { uptime: number } | null }[]>`
          select cursor, key ->> 'node_id' as id, content from reporting.changes(${after}, 1)`;
        if (!next) return entries;
        entries.push([next.cursor, next.id, next.content && String(next.content.uptime)]);
      }
    };
    const before = await readFeed();
    expect(before.map(([, ...rest]) => rest)).toEqual([
      ['NodeID-0', '1e-19'],
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
      ['NodeID-2', '3'],
    ]);
    const cursors = before.map(([cursor]) => cursor);
    clock.now = start + 8 * DAY + HOUR;
    for (let days = 0; days < 3; days++) {
      await runDailyTasks();
      expect(await readFeed()).toEqual(
        ['NodeID-0', 'NodeID-1', 'NodeID-2']
          .map((id, at) => [cursors[at], id, null])
          .concat([before[3] ?? []]),
      );
      clock.now += DAY;
    }
    // The members that an earlier version removed are unknown.
    await sql`delete from recorder.reading_members where retired_at is not null`;
    expect((await readFeed()).map(([cursor, id]) => [cursor, id])).toEqual(
      cursors.map((cursor, at) => [cursor, at % 3 === 0 ? 'NodeID-2' : null]),
    );
  });

  it('is kept if a day was closed while it was retired, until that day is removed', async () => {
    const poll = await createObserver('a');
    const recorded = await poll([['NodeID-1', '1']]);
    clock.now = start + 2 * DAY;
    await closeDaysNow();
    // A day that was closed under the number of a member that was retired at that moment.
    await sql`update recorder.reading_members set retired_at = ${new Date(start)}`;
    clock.now = start + 7 * DAY + HOUR;
    await retainNow();
    await expectReadings(recorded);
    clock.now += DAY;
    await trimChangeFeed();
    await retainNow();
    expect(await selectMembers()).toEqual([]);
    await expectReadings(recorded);
  });

  it('is kept for a reading that is stored as a row, so that the change feed still includes it', async () => {
    const poll = await createObserver('a');
    await poll([
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
    ]);
    clock.now = start + 4 * DAY;
    await poll([['NodeID-1', '0.0000000000000000001']]);
    clock.now = start + 9 * DAY;
    await runDailyTasks();
    expect(await selectLiveMembers()).toEqual(['a NodeID-1']);
    await sql`delete from recorder.changes where commit_number = (select min(commit_number) from recorder.changes)`;
    clock.now += DAY;
    await runDailyTasks();
    expect(await selectMembers()).toEqual(['a NodeID-1']);
    const changes = await sql`
      select key ->> 'node_id' as id, content ->> 'uptime' as uptime from reporting.changes(null, 100)`;
    expect(changes).toEqual([{ id: 'NodeID-1', uptime: '0.0000000000000000001' }]);
  });

  it('is searched in its own dataset only, also if a reading has no texts', async () => {
    const heights = scriptedFeed(chainHeights, { node: 'a', chain: 'P' });
    await registerTargets(sql, heights, clock.now, { recorder: 'recorder', digest: null });
    heights.script = () => onlyPage({ height: '1' });
    await run(recordingContext(sql, clock.read), heights);
    await (await createObserver('a'))([['NodeID-1', '1']]);
    const selectScopes = async () =>
      (
        await sql`
        select s.dataset::text, m.retired_at from recorder.reading_members m join recorder.reading_scopes s using (scope_id)
        order by 1`
      ).map(({ dataset, retired_at }) => [dataset, retired_at !== null]);
    clock.now = start + 9 * DAY;
    await runDailyTasks();
    expect(await selectScopes()).toEqual([
      ['chain_heights', false],
      ['validator_uptime', true],
    ]);
    await retainNow('chain_heights');
    await trimChangeFeed();
    clock.now += DAY;
    await runDailyTasks();
    expect(await selectScopes()).toEqual([['chain_heights', true]]);
    await retainNow('chain_heights');
    expect(await selectScopes()).toEqual([]);
    await run(recordingContext(sql, clock.read), heights);
    expect(await sql`select height::text from reporting.chain_heights`).toEqual([{ height: '1' }]);
  });
});
