import { afterEach, describe, expect, vi } from 'vitest';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import type { Range, SourcePage, Window } from '../../src/datasets/contract.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { LEASE_SECONDS } from '../../src/db/leases.ts';
import { LeaseLostError } from '../../src/lib/errors.ts';
import type { RecordingContext } from '../../src/recording/context.ts';
import { record } from '../../src/recording/record.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { block, blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withCommitHook } from '../support/commits.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  gate,
  jobFor,
  onlyPage,
  pagesOf,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 8 });
const clock = new ManualClock(Date.UTC(2026, 0, 10));
const day = 86_400_000;
const window = { from: clock.now - 2 * day, to: clock.now - day };
const range: Range = { axis: 'time', span: () => day, head: () => 60_000, settle: 0, lookback: 30 * day };

const signal = new AbortController().signal;
const page = (body: unknown, proven: Window | null, more: Partial<SourcePage> = {}): SourcePage => ({
  body,
  proven,
  last: false,
  whole: true,
  ...more,
});

/** A context of runs, with a hook before each commit. */
function contextBefore(commit: (number: number) => Promise<unknown>): RecordingContext {
  const context = recordingContext(sql, clock.read);
  let commits = 0;
  const before = () => commit(++commits);
  return { ...context, commits: withCommitHook(context.commits, before) };
}

function blocksFeed(): ScriptedFeed {
  return scriptedFeed(proposedBlocks, blocksTarget(), { range });
}

/** The stored rows of a feed's target. */
async function selectStored(feed: ScriptedFeed) {
  const key = targetKey(jobFor(feed).target);
  const blocks = await sql<{ number: number }[]>`
    select block_number::int as number from recorder.proposed_blocks
    where blockchain_id = ${feed.targets[0]?.blockchainId ?? ''} order by 1`;
  const [coverage] = await sql<{ covered: string }[]>`
    select covered::text from recorder.coverage where target_key = ${key} and dataset = ${feed.datasets[0]?.name ?? ''}`;
  const runs = await sql<
    { status: string; pages: number; rows: number; quarantined: number; error: string | null }[]
  >`
    select status, pages, rows_written[1]::int as rows, quarantined::int, error from recorder.runs
    where source = ${feed.source.name} order by run_id`;
  return { blocks: blocks.map(({ number }) => number), covered: coverage?.covered ?? null, runs: [...runs] };
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
const asRange = ({ from, to }: Window) => `{[${from},${to})}`;

describe('a run', () => {
  it('stores its pages, its coverage and itself, and a second run writes only itself', async () => {
    const feed = blocksFeed();
    const { from, to } = window;
    feed.script = () =>
      pagesOf([
        page({ blocks: [block(3, seconds(to) - 10), block(2, seconds(to) - 20)] }, { from: to - 20_000, to }),
        page({ blocks: [block(1, seconds(from) + 5)] }, window, { last: true }),
      ]);
    const context = recordingContext(sql, clock.read);
    expect(await run(context, feed, window)).toMatchObject({
      status: 'done',
      pages: 2,
      items: 3,
      rowsWritten: [3],
      quarantined: 0,
      error: null,
    });
    expect(await run(context, feed, window)).toMatchObject({ status: 'done', items: 3, rowsWritten: [0] });
    const [counts] = await sql`
      select items::int, rows_written::int, rows_today::int from recorder.target_datasets where source = ${feed.source.name}`;
    expect(counts, 'counted with each commit').toEqual({ items: 6, rows_written: 3, rows_today: 3 });
    expect(await selectStored(feed)).toEqual({
      blocks: [1, 2, 3],
      covered: asRange(window),
      runs: [
        { status: 'done', pages: 2, rows: 3, quarantined: 0, error: null },
        { status: 'done', pages: 2, rows: 0, quarantined: 0, error: null },
      ],
    });
  });

  it('claims nothing newer than the settled time of the upstream', async () => {
    const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range: { ...range, settle: 600_000 } });
    const newest = { from: clock.now - day, to: clock.now };
    feed.script = () => pagesOf([page({ blocks: [] }, newest, { last: true })]);
    await run(recordingContext(sql, clock.read), feed, newest);
    expect((await selectStored(feed)).covered).toBe(asRange({ from: newest.from, to: clock.now - 600_000 }));
  });

  it('that fails keeps the committed pages, with only their proven coverage', async () => {
    const feed = blocksFeed();
    const proven = { from: window.to - 20_000, to: window.to };
    feed.script = async function* () {
      yield page({ blocks: [block(9, seconds(window.to) - 10)] }, proven);
      throw new UpstreamFailure('server', 'answered 502');
    };
    const result = await run(recordingContext(sql, clock.read), feed, window);
    expect(result).toMatchObject({ status: 'failed', error: 'answered 502', later: true, rowsWritten: [1] });
    expect(await selectStored(feed)).toEqual({
      blocks: [9],
      covered: asRange(proven),
      runs: [{ status: 'failed', pages: 1, rows: 1, quarantined: 0, error: 'answered 502' }],
    });
  });

  it('that is stopped is neither a success nor a failure', async () => {
    const feed = blocksFeed();
    feed.script = async function* () {
      yield page({ blocks: [block(1, seconds(window.to) - 10)] }, null);
      throw new UpstreamFailure('cancelled', 'stopped by the recorder');
    };
    expect(await run(recordingContext(sql, clock.read), feed, window)).toMatchObject({ status: 'stopped' });
    const [target] = await sql`
      select last_success_at, last_failure_at, failures, run_id, lease_until
      from recorder.targets join recorder.target_datasets using (source, target_key)
      where source = ${feed.source.name}`;
    expect(target).toEqual({
      last_success_at: null,
      last_failure_at: null,
      failures: 0,
      run_id: null,
      lease_until: null,
    });
  });

  it.each([
    ['no object at all', 'nonsense'],
    ['an object without the list', { results: [] }],
    ['a list that is none', { blocks: {} }],
  ])('with the response %s fails with a reason and claims nothing', async (_, body) => {
    const feed = blocksFeed();
    feed.script = () => pagesOf([page(body, window, { last: true })]);
    const result = await run(recordingContext(sql, clock.read), feed, window);
    expect(result).toMatchObject({ status: 'failed', error: expect.stringContaining('list') });
    expect(await selectStored(feed)).toMatchObject({ blocks: [], covered: null });
  });

  it('makes a target fresh only if it covers the present', async () => {
    const feed = blocksFeed();
    const context = recordingContext(sql, clock.read);
    const lastSuccess = async () => {
      const [row] = await sql<{ at: Date | null }[]>`
        select last_success_at as at from recorder.target_datasets where source = ${feed.source.name}`;
      return row?.at?.getTime() ?? null;
    };
    feed.script = () => pagesOf([page({ blocks: [] }, null, { last: true })]);
    await run(context, feed, window);
    expect(await lastSuccess()).toBeNull();
    await run(context, feed, { from: clock.now - 60_000, to: clock.now });
    expect(await lastSuccess()).toBe(clock.now);
  });
});

describe('a commit', () => {
  const fullWindow = { from: window.from, to: window.to };
  // Each part of the statement fails once; nothing of the others may be stored then.
  it.each([
    ['rows', 'insert', 'recorder.proposed_blocks'],
    ['coverage', 'insert', 'recorder.coverage'],
    ['quarantine', 'insert', 'recorder.quarantine'],
    ['run', 'update', 'recorder.runs'],
    ['lease', 'update', 'recorder.targets'],
    ['state of the target', 'update', 'recorder.target_datasets'],
  ])('whose %s cannot be written writes nothing', async (_, event, table) => {
    const feed = blocksFeed();
    const requested = gate();
    const answer = gate();
    feed.script = async function* () {
      requested.open();
      await answer.opened;
      yield page({ blocks: [block(1, seconds(window.to) - 10), { blockNumber: 'none' }] }, fullWindow, {
        last: true,
      });
    };
    const running = record(recordingContext(sql, clock.read), feed, jobFor(feed, window), signal);
    await requested.opened;
    await sql.unsafe(`
      create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refused before ${event} on ${table} for each statement execute function refuse()`);
    answer.open();
    try {
      await expect(running).rejects.toThrow('refused');
    } finally {
      await sql.unsafe(`drop trigger refused on ${table}`);
    }
    expect(await selectStored(feed)).toEqual({
      blocks: [],
      covered: null,
      runs: [{ status: 'running', pages: 0, rows: 0, quarantined: 0, error: null }],
    });
    const [quarantine] = await sql`
      select count(*)::int as items from recorder.quarantine where target_key = ${targetKey(jobFor(feed).target)}`;
    expect(quarantine).toEqual({ items: 0 });
  });

  /** The minimum number of blocks for an immediate commit. */
  const createBlocks = (lowest: number, second: number) =>
    Array.from({ length: 250 }, (_, at) => block(lowest + at, second));

  it('follows the previous one, also when the walk fails meanwhile', async () => {
    const feed = blocksFeed();
    const failed = gate();
    const started: number[] = [];
    const slowContext = contextBefore(async (commit) => {
      started.push(commit);
      if (commit > 1) return;
      await failed.opened;
      await new Promise(setImmediate);
      expect(started).toEqual([1]);
    });
    feed.script = async function* () {
      yield page({ blocks: createBlocks(1, seconds(window.to) - 10) }, null);
      setImmediate(failed.open);
      throw new UpstreamFailure('server', 'answered 502');
    };
    expect(await run(slowContext, feed, window)).toMatchObject({ status: 'failed' });
    expect(started).toEqual([1, 2]);
    expect((await selectStored(feed)).blocks).toHaveLength(250);
  });

  it('that failed is not claimed by the next one, also when the walk fails meanwhile', async () => {
    const feed = blocksFeed();
    const failed = gate();
    const failingContext = contextBefore(async (commit) => {
      if (commit > 1) return;
      await failed.opened;
      throw new Error('the database connection was lost');
    });
    const half = { from: window.from + day / 2, to: window.to };
    feed.script = async function* () {
      yield page({ blocks: createBlocks(2, seconds(window.to) - 10) }, null);
      yield page({ blocks: [block(1, seconds(half.from))] }, half);
      setImmediate(failed.open);
      throw new UpstreamFailure('server', 'answered 502');
    };
    await expect(run(failingContext, feed, window)).rejects.toThrow('connection was lost');
    expect(await selectStored(feed)).toMatchObject({ blocks: [], covered: null });
  });

  it('starts before there are a thousand rows if no other run commits', async () => {
    const feed = blocksFeed();
    const started = gate();
    const context = contextBefore(async () => started.open());
    const [pageCount, blocksPerPage] = [20, 100];
    feed.script = async function* () {
      for (let pageNumber = 1; pageNumber <= pageCount; pageNumber += 1) {
        // The next page would make it a thousand.
        if (pageNumber === 10) await started.opened;
        const blocks = Array.from({ length: blocksPerPage }, (_, at) =>
          block(pageNumber * blocksPerPage + at, seconds(window.to) - pageNumber),
        );
        yield pageNumber < pageCount ? page({ blocks }, null) : page({ blocks }, window, { last: true });
      }
    };
    expect(await run(context, feed, window)).toMatchObject({ rowsWritten: [pageCount * blocksPerPage] });
  });
});

describe('the fence', () => {
  const expire = (feed: ScriptedFeed) =>
    sql`update recorder.targets set lease_until = now() - interval '1 second' where source = ${feed.source.name}`;

  it('prevents commits of a run that lost its lease', async () => {
    const feed = blocksFeed();
    const first = gate();
    const resumed = gate();
    let walks = 0;
    feed.script = async function* () {
      walks += 1;
      if (walks === 1) {
        yield page({ blocks: [block(1, seconds(window.to) - 10)] }, null);
        first.open();
        await resumed.opened;
        yield page({ blocks: [block(666, seconds(window.to) - 10)] }, window, { last: true });
      } else yield page({ blocks: [block(2, seconds(window.to) - 20)] }, null, { last: true });
    };
    const context = recordingContext(sql, clock.read);
    const stalled = record(context, feed, jobFor(feed, window), signal);
    await first.opened;
    await expect.poll(() => selectStored(feed)).toMatchObject({ blocks: [1] });
    expect(await record(context, feed, jobFor(feed, window), signal)).toBe('held');
    await expire(feed);
    expect(await run(context, feed, window)).toMatchObject({ status: 'done' });
    resumed.open();
    await expect(stalled).rejects.toThrow(LeaseLostError);
    expect(await selectStored(feed)).toMatchObject({
      blocks: [1, 2],
      covered: null,
      runs: [
        { status: 'lost', pages: 1, rows: 1 },
        { status: 'done', pages: 1, rows: 1 },
      ],
    });
  });

  it('prevents such a run from storing a failure', async () => {
    const feed = blocksFeed();
    const started = gate();
    const resumed = gate();
    let walks = 0;
    feed.script = async function* () {
      walks += 1;
      if (walks === 1) {
        started.open();
        await resumed.opened;
        throw new UpstreamFailure('timeout', 'incomplete response');
      }
      yield page({ blocks: [] }, null, { last: true });
    };
    const context = recordingContext(sql, clock.read);
    const stalled = record(context, feed, jobFor(feed, window), signal);
    await started.opened;
    await expire(feed);
    await run(context, feed, window);
    resumed.open();
    await expect(stalled).rejects.toThrow(LeaseLostError);
    const [target] =
      await sql`select failures from recorder.target_datasets where source = ${feed.source.name}`;
    expect(target).toEqual({ failures: 0 });
  });

  it('checks the lease one call at a time, however long its commit takes', async () => {
    const feed = blocksFeed();
    const started = gate();
    const resumed = gate();
    feed.script = async function* () {
      started.open();
      await resumed.opened;
      yield page({ blocks: [block(1, seconds(window.to) - 10)] }, window, { last: true });
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const recorded = record(recordingContext(sql, clock.read), feed, jobFor(feed, window), signal);
      await started.opened;
      const waiting = await sql.begin(async (other) => {
        await other`select from recorder.targets where source = ${feed.source.name} for update`;
        resumed.open();
        await waitUntilBlocked(sql);
        for (let renewal = 1; renewal <= 4; renewal++) {
          vi.advanceTimersByTime((LEASE_SECONDS * 1000) / 4);
          await waitUntilBlocked(sql, 2);
        }
        return sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      });
      expect(waiting, 'the commit and one renewal').toHaveLength(2);
      expect(await recorded).toMatchObject({ status: 'done' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('serialises two commits of the same run number at the database', async () => {
    const feed = blocksFeed();
    const context = recordingContext(sql, clock.read);
    const started = gate();
    const resumed = gate();
    feed.script = async function* () {
      started.open();
      await resumed.opened;
      yield page({ blocks: [block(1, seconds(window.to) - 10)] }, window, { last: true });
    };
    const refused = expect(record(context, feed, jobFor(feed, window), signal)).rejects.toThrow(
      LeaseLostError,
    );
    await started.opened;
    // Another worker takes the lease over, and has not committed that yet when the old one commits.
    const otherWorker = await sql.reserve();
    await otherWorker`begin`;
    await otherWorker`update recorder.targets set run_id = 0 where source = ${feed.source.name}`;
    resumed.open();
    await waitUntilBlocked(sql);
    await otherWorker`commit`;
    otherWorker.release();
    await refused;
    expect(await selectStored(feed)).toMatchObject({ blocks: [], covered: null });
  });
});

describe('proof of absence', () => {
  const target = () => ({ node: 'n', subnetId: `subnet-${Math.random()}` });
  const member = (nodeID: string) => ({ nodeID, startTime: 1_700_000_000, weight: 5 });
  const members = async (feed: ScriptedFeed) => {
    const rows = await sql<{ node_id: string }[]>`
      select node_id from reporting.node_validators where subnet_id = ${feed.targets[0]?.subnetId ?? ''} order by 1`;
    return rows.map(({ node_id }) => node_id);
  };

  it.each([
    ['whole', {}, 'done', ['a']],
    ['restarted', { whole: false }, 'partial', ['a', 'b']],
    ['unfinished', { last: false }, 'partial', ['a', 'b']],
  ] as const)('depends on the list: %s', async (_, more, status, remaining) => {
    const feed = scriptedFeed(validators, target());
    const context = recordingContext(sql, clock.read);
    feed.script = () => onlyPage({ validators: [member('a'), member('b')] });
    await run(context, feed);
    clock.now += 1000;
    feed.script = () => onlyPage({ validators: [member('a')] }, more);
    expect(await run(context, feed)).toMatchObject({ status });
    expect(await members(feed)).toEqual(remaining);
  });
});

describe('datasets of one source', () => {
  it('are recorded together, each with its counts', async () => {
    const feed = scriptedFeed([validators, validatorUptime], { node: 'both', subnetId: 's' });
    const validator = { nodeID: 'a', startTime: 1_700_000_000, weight: 5, uptime: '99.5', connected: true };
    feed.script = () =>
      onlyPage({ validators: [validator, { nodeID: 'b', startTime: 1_700_000_001, weight: 7 }] });
    const result = await run(recordingContext(sql, clock.read), feed);
    expect(result).toMatchObject({ status: 'done', rowsWritten: [2, 1] });
    const runs = await sql`
      select dataset, items::int, rows_written::int, pages, requests from reporting.runs
      where run_id = ${result.runId} order by dataset desc`;
    expect([...runs]).toEqual([
      { dataset: 'validators', items: 2, rows_written: 2, pages: 1, requests: 1 },
      { dataset: 'validator_uptime', items: 1, rows_written: 1, pages: 0, requests: 0 },
    ]);
  });

  it('are refused together if the second of them has no list', async () => {
    const broken = {
      ...validatorUptime,
      items: () => {
        throw new Error('no list');
      },
    };
    const feed = scriptedFeed(
      [proposedBlocks, broken],
      { ...blocksTarget(), node: 'x', subnetId: 'y' },
      { range },
    );
    feed.script = () =>
      pagesOf([page({ blocks: [block(1, seconds(window.to) - 5)] }, window, { last: true })]);
    expect(await run(recordingContext(sql, clock.read), feed, window)).toMatchObject({ status: 'failed' });
    expect((await selectStored(feed)).covered).toBeNull();
  });
});

describe('progress', () => {
  afterEach(() => {
    clock.now += 1;
  });

  it('is reported after every commit', async () => {
    const feed = blocksFeed();
    const reported: (Window | null)[] = [];
    const half = { from: window.from + day / 2, to: window.to };
    feed.script = () =>
      pagesOf([
        page({ blocks: [block(2, seconds(half.from))] }, half),
        page({ blocks: [] }, window, { last: true }),
      ]);
    await record(recordingContext(sql, clock.read), feed, jobFor(feed, window), signal, (covered) =>
      reported.push(covered),
    );
    expect(reported.at(-1)).toEqual(window);
    expect(reported.length).toBeGreaterThan(0);
  });
});
