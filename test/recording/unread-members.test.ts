import fc from 'fast-check';
import { beforeEach, describe, expect } from 'vitest';
import type { Dataset } from '../../src/datasets/contract.ts';
import { chainHeights } from '../../src/datasets/node/chain-heights.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { lockRow } from '../../src/db/row-lock.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { computeKeptSince, planRetention, retain } from '../../src/retention/retention.ts';
import { blocked } from '../support/blocked-statements.ts';
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
interface Fed {
  readonly node: string;
  readonly id: string;
  readonly uptime: string | null;
  readonly at: number;
}

/** Polls the validators of a node. */
async function observer(node: string) {
  const feed = scriptedFeed(validatorUptime, { node, subnetId: 's' });
  await registerTargets(sql, feed, clock.now, { recorder: 'recorder', digest: null });
  return async (seen: readonly (readonly [id: string, uptime: string | null])[]): Promise<Fed[]> => {
    feed.script = () =>
      onlyPage({
        validators: seen.map(([nodeID, uptime]) => ({
          nodeID,
          connected: true,
          ...(uptime === null ? {} : { uptime }),
        })),
      });
    const at = clock.now;
    await run(recordingContext(sql, clock.read), feed);
    return seen.map(([id, uptime]) => ({ node, id, uptime, at }));
  };
}

const close = () => closeDays(sql, clock.now, never);
const retainNow = (name: Dataset['name'] = validatorUptime.name) =>
  retain(sql, { [name]: KEEP }, clock.now, never);

/** Runs the daily tasks, in order. */
async function everyDay(): Promise<void> {
  await close();
  await retainNow();
}

/** Removes the part of the change feed that was read so far. */
const trimFeed = () => sql`delete from recorder.changes`;

/** Runs an action while a commit is between its snapshot and its end. */
async function during<T>(commit: () => Promise<T>, something: () => Promise<unknown>): Promise<T> {
  const holding = await sql.reserve();
  try {
    await holding.unsafe(`begin; ${lockRow('changes')}`);
    const committed = commit();
    await Promise.race([blocked(sql), committed]);
    await something();
    await holding`commit`;
    return await committed;
  } finally {
    await holding`rollback`;
    holding.release();
  }
}

const textOf = ({ node, id, uptime, at }: Fed) => `${node} ${id} ${uptime} ${new Date(at).toISOString()}`;
const told = (fed: readonly Fed[]) => fed.map(textOf).sort();

/** The readings of a view or function. */
async function readingsOf(from: string): Promise<string[]> {
  const rows = await sql.unsafe<{ node: string; id: string; uptime: string | null; at: Date }[]>(
    `select node, node_id as id, uptime::text, observed_at as at from ${from}`,
  );
  return told(rows.map(({ at, ...row }) => ({ ...row, at: at.getTime() })));
}

/** The averages by day; fractions as the view returns them. */
async function countsByDay(): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select concat_ws(' ', node, node_id, day, uptime_readings) as text from reporting.validator_uptime_daily`;
  return rows.map(({ text }) => text).sort();
}

function expectedCounts(fed: readonly Fed[]): string[] {
  const counts = new Map<string, number>();
  for (const { node, id, at, uptime } of fed) {
    const key = `${node} ${id} ${new Date(at).toISOString().slice(0, 10)}`;
    counts.set(key, (counts.get(key) ?? 0) + (uptime === null ? 0 : 1));
  }
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

/** The readings of the change feed that are kept. */
async function changesSince(): Promise<string[]> {
  const rows = await sql<{ node: string; id: string; uptime: string | null; at: Date }[]>`
    select key ->> 'node' as node, key ->> 'node_id' as id, content ->> 'uptime' as uptime, happened_at as at
    from reporting.changes(null, 1000)`;
  return told(rows.map(({ at, ...row }) => ({ ...row, at: at.getTime() })));
}

const members = async (where = 'true') =>
  (
    await sql.unsafe<{ member: string }[]>(
      `select s.request[1] || ' ' || m.texts[1] as member from recorder.reading_members m
       join recorder.reading_scopes s using (scope_id) where ${where} order by 1, m.chunk, m.seat`,
    )
  ).map(({ member }) => member);
const live = () => members('m.retired_at is null');

/** Every result of the kept range equals the recorded readings. */
async function expectAll(fed: readonly Fed[]): Promise<void> {
  const kept = fed.filter(({ at }) => at >= computeKeptSince(clock.now, KEEP));
  expect(await readingsOf('reporting.validator_uptime')).toEqual(told(kept));
  expect(await countsByDay()).toEqual(expectedCounts(kept));
  for (const ago of [6, 3, 1.5, 0]) {
    const moment = Math.max(clock.now - ago * DAY, start);
    expect(
      await readingsOf(`reporting_internal.validator_uptime_as_of('${new Date(moment).toISOString()}')`),
    ).toEqual(told(kept.filter(({ at }) => at <= moment)));
  }
  const listed = await sql<
    { thing: string }[]
  >`select node || ' ' || node_id as thing from reporting_internal.validator_uptime_members`;
  const things = listed.map(({ thing }) => thing);
  expect(new Set(things).size).toBe(things.length);
  expect(things).toEqual(expect.arrayContaining(kept.map(({ node, id }) => `${node} ${id}`)));
}

const look = fc.record({
  node: fc.constantFrom('a', 'b'),
  seen: fc.uniqueArray(
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
  looks: fc.array(look, { minLength: 1, maxLength: 3 }),
  /** Whether members are retired while the first poll is being committed. */
  racing: fc.boolean(),
});

describe('a member without retained readings', () => {
  it('is removed, and a returning one is read as recorded', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(day, { minLength: 12, maxLength: 12 }), async (days) => {
          const observers = { a: await observer('a'), b: await observer('b') };
          const fed = [
            ...(await observers.a([['NodeID-1', '1']])),
            ...(await observers.b([['NodeID-1', '1']])),
          ];
          const retiredOnce: number[] = [];
          for (const { days: passed, looks, racing } of days) {
            clock.now = Math.floor(clock.now / DAY) * DAY + passed * DAY + HOUR;
            for (const [at, one] of looks.entries()) {
              const commit = () => observers[one.node](one.seen);
              if (at > 0) fed.push(...(await commit()));
              else if (racing) {
                await close();
                fed.push(...(await during(commit, retainNow)));
              } else {
                await everyDay();
                const kept = new Set(fed.map(({ node, id }) => `${node} ${id}`));
                expect([...kept]).toEqual(expect.arrayContaining(await live()));
                fed.push(...(await commit()));
              }
              await expectAll(fed);
              clock.now += 5 * HOUR;
            }
            retiredOnce.push((await members('m.retired_at is not null')).length);
          }
          fc.pre(retiredOnce.some((count) => count > 0));
          // When the last reading is removed nothing of any member is left, and the next poll is read again.
          clock.now += 9 * DAY;
          await everyDay();
          expect(await live()).toEqual([]);
          await trimFeed();
          clock.now += DAY;
          await everyDay();
          expect(await members()).toEqual([]);
          await expectAll([]);
          await expectAll(await observers.a([['NodeID-1', '1']]));
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
    const look = await observer('a');
    await look([
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
    ]);
    clock.now = start + 5 * DAY;
    await look([['NodeID-2', '3']]);
    clock.now = start + 8 * DAY + HOUR;
    await close();
    expect(await planRetention(sql, { validator_uptime: KEEP }, clock.now)).toMatchObject([{ going: 2 }]);
    expect(await retainNow()).toMatchObject([{ removed: 2 }]);
    expect([await live(), await members()]).toEqual([['a NodeID-2'], ['a NodeID-1', 'a NodeID-2']]);
    // An earlier round, because the retention is shorter from now on.
    clock.now += 12 * HOUR;
    await retain(sql, { validator_uptime: KEEP - DAY }, clock.now, never);
    expect(await members()).toEqual(['a NodeID-1', 'a NodeID-2']);
    clock.now += 2 * DAY;
    await trimFeed();
    expect(await retain(sql, { validator_uptime: KEEP - DAY }, clock.now, never)).toMatchObject([
      { removed: 0 },
    ]);
    expect(await members()).toEqual(['a NodeID-2']);
    expect(await sql`select removed::int from reporting_internal.retention`).toEqual([{ removed: 2 }]);
  });

  it('loses no reading of a poll that used its number while it was retired, until that reading expires', async () => {
    const look = await observer('a');
    const fed = await look([['NodeID-1', '1']]);
    clock.now = start + 9 * DAY;
    await close();
    fed.push(
      ...(await during(
        () => look([['NodeID-1', '2']]),
        () => retainNow(),
      )),
    );
    expect([await live(), await members()]).toEqual([[], ['a NodeID-1']]);
    await expectAll(fed);
    clock.now += HOUR;
    fed.push(...(await look([['NodeID-1', '3']])));
    // The first poll has the old number, the second one the new one, and the removal keeps both.
    expect(await members()).toEqual(['a NodeID-1', 'a NodeID-1']);
    await expectAll(fed);
    await retain(sql, { validator_uptime: KEEP }, clock.now + DAY, never);
    await expectAll(fed);
    clock.now += 2 * DAY;
    await trimFeed();
    await everyDay();
    await expectAll(fed);
    expect([await live(), await members()]).toEqual([['a NodeID-1'], ['a NodeID-1']]);
    clock.now += 8 * DAY;
    await everyDay();
    clock.now += DAY;
    await everyDay();
    expect(await members()).toEqual([]);
  });

  it('has in the change feed the number that its poll used, also once another number has its reading', async () => {
    const look = await observer('a');
    await look([['NodeID-1', '1']]);
    clock.now = start + 9 * DAY;
    await close();
    await trimFeed();
    const fed = await during(
      () =>
        look([
          ['NodeID-1', '2'],
          ['NodeID-2', '5'],
        ]),
      () => retainNow(),
    );
    clock.now += HOUR;
    fed.push(...(await look([['NodeID-1', '3']])));
    expect(await changesSince()).toEqual(told(fed));
    // Days are closed, and retired members removed, before a reader of the feed gets to these polls.
    for (let days = 0; days < 3; days++) {
      clock.now += DAY;
      await everyDay();
      expect(await changesSince()).toEqual(told(fed));
    }
    expect(await members()).toEqual(['a NodeID-1', 'a NodeID-1', 'a NodeID-2']);
    await trimFeed();
    clock.now += DAY;
    await everyDay();
    expect(await members()).toEqual(['a NodeID-1', 'a NodeID-2']);
  });

  it('is kept as long as the change feed includes its poll, which continues past removed polls', async () => {
    const look = await observer('a');
    await look([
      ['NodeID-2', '2'],
      ['NodeID-1', '1'],
      // Remains a row, and is removed in another statement.
      ['NodeID-0', '0.0000000000000000001'],
    ]);
    clock.now = start + 5 * DAY;
    await look([['NodeID-2', '3']]);
    const feed = async () => {
      const told: [cursor: string, id: string | null, uptime: string | null | undefined][] = [];
      for (let after: string | null = null; ; after = told.at(-1)?.[0] ?? null) {
        const [next] = await sql<{ cursor: string; id: string | null; content: { uptime: number } | null }[]>`
          select cursor, key ->> 'node_id' as id, content from reporting.changes(${after}, 1)`;
        if (!next) return told;
        told.push([next.cursor, next.id, next.content && String(next.content.uptime)]);
      }
    };
    const before = await feed();
    expect(before.map(([, ...rest]) => rest)).toEqual([
      ['NodeID-0', '1e-19'],
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
      ['NodeID-2', '3'],
    ]);
    const cursors = before.map(([cursor]) => cursor);
    clock.now = start + 8 * DAY + HOUR;
    for (let days = 0; days < 3; days++) {
      await everyDay();
      expect(await feed()).toEqual(
        ['NodeID-0', 'NodeID-1', 'NodeID-2']
          .map((id, at) => [cursors[at], id, null])
          .concat([before[3] ?? []]),
      );
      clock.now += DAY;
    }
    // The members that an earlier version removed are unknown.
    await sql`delete from recorder.reading_members where retired_at is not null`;
    expect((await feed()).map(([cursor, id]) => [cursor, id])).toEqual(
      cursors.map((cursor, at) => [cursor, at % 3 === 0 ? 'NodeID-2' : null]),
    );
  });

  it('is kept if a day was closed while it was retired, until that day is removed', async () => {
    const look = await observer('a');
    const fed = await look([['NodeID-1', '1']]);
    clock.now = start + 2 * DAY;
    await close();
    // A day that was closed under the number of a member that was retired at that moment.
    await sql`update recorder.reading_members set retired_at = ${new Date(start)}`;
    clock.now = start + 7 * DAY + HOUR;
    await retainNow();
    await expectAll(fed);
    clock.now += DAY;
    await trimFeed();
    await retainNow();
    expect(await members()).toEqual([]);
    await expectAll(fed);
  });

  it('is kept for a reading that is stored as a row, so that the change feed still includes it', async () => {
    const look = await observer('a');
    await look([
      ['NodeID-1', '1'],
      ['NodeID-2', '2'],
    ]);
    clock.now = start + 4 * DAY;
    await look([['NodeID-1', '0.0000000000000000001']]);
    clock.now = start + 9 * DAY;
    await everyDay();
    expect(await live()).toEqual(['a NodeID-1']);
    await sql`delete from recorder.changes where commit_number = (select min(commit_number) from recorder.changes)`;
    clock.now += DAY;
    await everyDay();
    expect(await members()).toEqual(['a NodeID-1']);
    const changes = await sql`
      select key ->> 'node_id' as id, content ->> 'uptime' as uptime from reporting.changes(null, 100)`;
    expect(changes).toEqual([{ id: 'NodeID-1', uptime: '0.0000000000000000001' }]);
  });

  it('is searched in its own dataset only, also if a reading has no texts', async () => {
    const heights = scriptedFeed(chainHeights, { node: 'a', chain: 'P' });
    await registerTargets(sql, heights, clock.now, { recorder: 'recorder', digest: null });
    heights.script = () => onlyPage({ height: '1' });
    await run(recordingContext(sql, clock.read), heights);
    await (await observer('a'))([['NodeID-1', '1']]);
    const left = async () =>
      (
        await sql`
        select s.dataset::text, m.retired_at from recorder.reading_members m join recorder.reading_scopes s using (scope_id)
        order by 1`
      ).map(({ dataset, retired_at }) => [dataset, retired_at !== null]);
    clock.now = start + 9 * DAY;
    await everyDay();
    expect(await left()).toEqual([
      ['chain_heights', false],
      ['validator_uptime', true],
    ]);
    await retainNow('chain_heights');
    await trimFeed();
    clock.now += DAY;
    await everyDay();
    expect(await left()).toEqual([['chain_heights', true]]);
    await retainNow('chain_heights');
    expect(await left()).toEqual([]);
    await run(recordingContext(sql, clock.read), heights);
    expect(await sql`select height::text from reporting.chain_heights`).toEqual([{ height: '1' }]);
  });
});
