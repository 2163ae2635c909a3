import { pino } from 'pino';
import postgres from 'postgres';
import { describe, expect } from 'vitest';
import { nativeTransactions } from '../../../src/datasets/chain-data/native-transactions.ts';
import type { Dataset } from '../../../src/datasets/contract.ts';
import { averageTps } from '../../../src/datasets/metrics/average-tps.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { CONNECTION_OPTIONS, openSealConnection } from '../../../src/db/client.ts';
import { connectPool } from '../../../src/db/connect.ts';
import { acquireObserver, writeLedger } from '../../../src/health/ledger.ts';
import { withDefaultSettings } from '../../../src/recording/active-feed.ts';
import { closeDays } from '../../../src/recording/close-days.ts';
import { registerAll } from '../../../src/recording/register.ts';
import { retireRemovedTargets } from '../../../src/recording/retire-removed-targets.ts';
import { recordedNamed } from '../../../src/reporting/recorded-datasets.ts';
import { relationSql } from '../../../src/reporting/views/declared-objects.ts';
import { waitUntilBlocked } from '../../support/blocked-statements.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { transitionOf } from '../../support/ledger.ts';
import { onlyPage, pagesOf, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, database, sql } = withDatabase({ connection: { TimeZone: 'UTC' } });
const start = Date.UTC(2026, 0, 10);
const clock = new ManualClock(start);
const never = new AbortController().signal;

interface Change {
  readonly cursor: string;
  readonly dataset: string;
  readonly change: string;
  readonly happened_at: Date | null;
  readonly run_id: string | null;
  readonly key: Record<string, unknown>;
  readonly content: Record<string, unknown> | null;
}

/** Returns all changes after a cursor, with this page size. */
async function changes(after: string | null, atOnce = 1000): Promise<Change[]> {
  const all: Change[] = [];
  for (let last = after; ; last = all.at(-1)?.cursor ?? last) {
    const rows = await sql<Change[]>`select * from reporting.changes(${last}, ${atOnce})`;
    if (rows.length === 0) return all;
    all.push(...rows);
  }
}

const head = async () =>
  (
    await sql<
      { cursor: string }[]
    >`select cursor from reporting.change_commits order by commit_number desc limit 1`
  )[0]?.cursor ?? null;

/** Returns the changes of a poll of a dataset, in short form. */
async function changedBy(poll: () => Promise<unknown>): Promise<Change[]> {
  clock.now += 1000;
  const before = await head();
  await poll();
  return changes(before);
}

function poller(
  dataset: Dataset,
  target: Record<string, string>,
  confirmShrink = { observations: 1, minDuration: 0 },
) {
  const feed = scriptedFeed(dataset, target, { confirmShrink });
  return (body: unknown, whole = true) =>
    changedBy(() => {
      feed.script = () => onlyPage(body, { whole });
      return run(recordingContext(sql, clock.read), feed);
    });
}

const seconds = (at: Date | null) => (at ? (at.getTime() - start) / 1000 : null);

describe('changes', () => {
  it('of a list: members that appeared, changed, left and returned, with their values at the time', async () => {
    const poll = poller(validators, { node: 'n', subnetId: 'list' });
    const of = (...weights: readonly (readonly [string, string])[]) => ({
      validators: weights.map(([nodeID, weight]) => ({ nodeID, startTime: 1, weight })),
    });
    const short = (all: readonly Change[]) =>
      all.map(({ change, key, content }) => [change, key.node_id, content?.weight]);
    const begun = clock.now;
    const first = await poll(of(['a', '1'], ['b', '9007199254740993']));
    expect(short(first)).toEqual([
      ['appeared', 'a', 1],
      ['appeared', 'b', 9007199254740992],
    ]);
    const digits = await sql`
      select content ->> 'weight' as weight from reporting.changes(${first[0]?.cursor ?? null}, 1)`;
    expect([...digits], 'every digit').toEqual([{ weight: '9007199254740993' }]);
    expect(short(await poll(of(['a', '1'], ['b', '9007199254740993'])))).toEqual([]);
    const revised = await poll(of(['a', '2']));
    expect(short(revised)).toEqual([
      ['revised', 'a', 2],
      ['left', 'b', 9007199254740992],
    ]);
    expect(revised.map((one) => one.happened_at?.getTime())).toEqual([begun + 3000, begun + 3000]);
    expect(short(await poll(of(['a', '2'], ['b', '5'])))).toEqual([['returned', 'b', 5]]);
    expect(first.map(({ key }) => key)).toEqual([
      expect.objectContaining({ node: 'n', subnet_id: 'list', node_id: 'a' }),
      expect.objectContaining({ node_id: 'b' }),
    ]);
    // The first version is reported unchanged now that it has ended.
    expect((await changes(null)).slice(0, first.length)).toEqual(first);
  });

  it('of a series, where points vanish, and of a log with a changed entry', async () => {
    const points = poller(averageTps, { chainId: '1' });
    const of = (...values: number[]) => ({
      results: values.map((value, at) => ({ timestamp: (18_262 + at) * 86_400, value })),
    });
    const short = (all: readonly Change[]) =>
      all.map(({ change, happened_at, content }) => [
        change,
        content?.value ?? content?.tx_status,
        seconds(happened_at),
      ]);
    const at = () => (clock.now - start) / 1000;
    expect(short(await points(of(1, 2)))).toEqual([
      ['appeared', 1, at()],
      ['appeared', 2, at()],
    ]);
    expect(short(await points(of(3)))).toEqual([
      ['revised', 3, at()],
      ['left', 2, at()],
    ]);
    expect(short(await points(of(3, 2)))).toEqual([['returned', 2, at()]]);
    const pollTransactions = poller(nativeTransactions, { chainId: '1', address: '0xa' });
    const transaction = (txHash: string, txStatus: string) => ({
      txHash,
      txStatus,
      blockNumber: '1',
      blockTimestamp: 1,
    });
    expect(short(await pollTransactions({ transactions: [transaction('0x1', '0')] }))).toEqual([
      ['appeared', '0', at()],
    ]);
    expect(
      short(await pollTransactions({ transactions: [transaction('0x1', '1'), transaction('0x2', '1')] })),
    ).toEqual([
      ['appeared', '1', at()],
      ['revised', '1', at()],
    ]);
  });

  it('of readings are the same before and after their day is packed', async () => {
    const read = poller(validatorUptime, { node: 'n', subnetId: 'readings' });
    const of = (...uptimes: (readonly [string, string])[]) => ({
      validators: uptimes.map(([nodeID, uptime]) => ({ nodeID, uptime, connected: true })),
    });
    const before = await head();
    const observed = [
      ...(await read(of(['a', '99.1'], ['c', '1']))),
      ...(await read(of(['b', '98.7'], ['a', '99.1']))),
      // Cannot be packed: it remains a row.
      ...(await read(of(['d', `0.${'1'.repeat(30)}`]))),
    ];
    expect(observed.map(({ change, key }) => [change, key.node_id])).toEqual(
      ['a', 'c', 'a', 'b', 'd'].map((member) => ['observed', member]),
    );
    const packing = openSealConnection(database.url, 60_000);
    expect(await closeDays(packing, start + 9 * 86_400_000, never)).toMatchObject({ packed: 4, failed: [] });
    await packing.end();
    expect(await changes(before)).toEqual(observed);
  });

  it('of targets that are not configured any more, and of the ledger', async () => {
    const by = { recorder: 'recorder', digest: null };
    const source = {
      ...validators.source,
      walk: () => onlyPage({ validators: [{ nodeID: 'a', startTime: 1, weight: 1 }] }),
    };
    const feed = withDefaultSettings({ source, datasets: [{ ...validators, source }] }, [
      { node: 'n', subnetId: 'left' },
    ]);
    await registerAll(sql, [feed], clock.now, by);
    await run(recordingContext(sql, clock.read), feed);
    const ended = await changedBy(async () => {
      await registerAll(sql, [], clock.now, by);
      await retireRemovedTargets(recordingContext(sql, clock.read), by, pino({ level: 'silent' }));
    });
    expect(ended.map(({ change, key, content }) => [change, key.subnet_id, content?.weight])).toEqual([
      ['unwatched', 'left', 1],
    ]);
    await acquireObserver(sql, 'paris', 'me');
    const turn = (at: number, state: 'up' | 'down') => transitionOf('n', start + at * 1000, state);
    const write = (...transitions: ReturnType<typeof turn>[]) =>
      changedBy(() =>
        writeLedger(sql, 'paris', 'me', { heartbeat: null, absences: [], transitions, probes: [] }),
      );
    const short = (all: readonly Change[]) =>
      all.map(({ change, happened_at, content }) => [change, seconds(happened_at), content?.state]);
    expect(short(await write(turn(0, 'up'), turn(5, 'down'), turn(9, 'up')))).toEqual([
      ['turned', 0, 'up'],
      ['turned', 5, 'down'],
      ['turned', 9, 'up'],
    ]);
    expect(short(await write(turn(5, 'down'))), 'what was settled later differed').toEqual([
      ['withdrawn', 9, undefined],
    ]);
    expect(await write(turn(5, 'down'))).toEqual([]);
  });
});

describe('the order', () => {
  it('is that of commits: a running one is waited for, and never skipped', async () => {
    // A commit with a number that is not visible yet.
    await sql.unsafe(`
      create function public.hold() returns trigger language plpgsql as $$ begin
        if new.request[2] = 'held' then perform pg_advisory_xact_lock(42); end if; return null; end $$;
      create constraint trigger hold after insert on recorder.changes deferrable initially deferred for each row execute function public.hold()`);
    const before = await head();
    const record = (subnetId: string) => {
      const feed = scriptedFeed(validators, { node: 'n', subnetId });
      feed.script = () => onlyPage({ validators: [{ nodeID: 'a', startTime: 1, weight: 1 }] });
      return run(recordingContext(sql, clock.read), feed);
    };
    const holder = postgres(database.url, { max: 1 });
    await holder`select pg_advisory_lock(42)`;
    const blockedRun = record('held');
    await waitUntilBlocked(sql);
    const other = record('other');
    await Promise.race([waitUntilBlocked(sql, 2), other]);
    const visible = await changes(before);
    await holder`select pg_advisory_unlock(42)`;
    await Promise.all([blockedRun, other, holder.end()]);
    const all = await changes(before);
    expect(all.map(({ key }) => key.subnet_id)).toEqual(['held', 'other']);
    expect(visible, 'the visible changes are the first ones').toEqual(all.slice(0, visible.length));
    await sql.unsafe('drop function public.hold() cascade');
  });

  it('contains each change once, no effect before its cause, for any reader and frequency, while connections are killed', async () => {
    const [writers, rounds] = [4, 12];
    const before = await head();
    const ended = new AbortController();
    const following = (async () => {
      const all: Change[] = [];
      for (let last = before, over = false; !over; ) {
        over = ended.signal.aborted;
        const rows = await sql<Change[]>`select * from reporting.changes(${last}, 3)`;
        all.push(...rows);
        last = rows.at(-1)?.cursor ?? last;
        over &&= rows.length === 0;
      }
      return all;
    })();
    await Promise.all(Array.from({ length: writers }, (_, at) => write(at, rounds)));
    ended.abort();
    const received = await following;
    expect(await changes(before, 7)).toEqual(received);
    const hashes = received.map(({ key }) => key.tx_hash);
    const rows = await sql<
      { tx_hash: string }[]
    >`select tx_hash from reporting.native_transactions where chain_id = 'order'`;
    expect(hashes.toSorted()).toEqual(rows.map(({ tx_hash }) => tx_hash).sort());
    expect(new Set(hashes).size).toBe(writers * rounds * 2);
    for (const [at, { content }] of received.entries()) {
      const cause = content?.method_name;
      if (cause !== null) expect(hashes.slice(0, at)).toContain(cause);
    }
  });

  /**
   * Records transactions, each of which contains the newest one visible to its writer; its connection is killed now and
   * then.
   */
  async function write(writer: number, rounds: number): Promise<void> {
    const feed = scriptedFeed(nativeTransactions, { chainId: 'order', address: `0x${writer}` });
    for (let round = 0; round < rounds; ) {
      const mine = connectPool(database.url, 60_000, { ...CONNECTION_OPTIONS, max: 1 });
      const [newest] = await mine<{ tx_hash: string; pid: number }[]>`
        select (select tx_hash from reporting.native_transactions where chain_id = 'order' order by block_number desc limit 1), pg_backend_pid() as pid`;
      const transactions = [1, 2].map((part) => ({
        txHash: `0x${writer}-${round}-${part}`,
        blockNumber: String(round),
        blockTimestamp: 1,
        ...(newest?.tx_hash
          ? { method: { callType: 'c', methodHash: 'h', methodName: newest.tx_hash } }
          : {}),
      }));
      feed.script = () => pagesOf([{ body: { transactions }, proven: null, last: true, whole: true }]);
      const killed =
        (writer + round) % 3 === 0 ? sql`select pg_terminate_backend(${newest?.pid ?? 0})` : null;
      await run(recordingContext(mine, clock.read), feed).catch(() => {});
      await killed;
      await mine.end();
      const [stored] = await sql<{ n: number }[]>`
        select count(*)::int as n from reporting.native_transactions where tx_hash = ${`0x${writer}-${round}-1`}`;
      if (stored?.n === 1) round += 1;
      else
        await sql`update recorder.targets set lease_until = null, run_id = null where source = ${feed.source.name}`;
    }
  }

  it('is reported as lost if the database was restored, or the requested changes were removed', async () => {
    const [oldest, newest] = [await sql`select cursor from reporting.changes(null, 1)`, await head()];
    const from = (cursor: unknown) => sql`select from reporting.changes(${String(cursor)}, 1)`;
    await expect(from('12')).rejects.toThrow('is not the cursor of a change');
    await expect(from(newest?.replace(/[0-9a-f]{6}$/, '000000'))).rejects.toThrow('restored, or reset');
    await sql`delete from recorder.changes where commit_number = (select min(commit_number) from recorder.changes)`;
    await expect(from(oldest[0]?.cursor)).rejects.toThrow('was removed from the feed');
    expect(await from(newest)).toHaveLength(0);
  });
});

it('has the version that started or ended, with the content of the change', async () => {
  const all = await sql<{ dataset: string; id: string | null }[]>`
    select dataset, version_id::text as id from reporting.changes(null, 100000) where dataset <> 'node_health' and content is not null`;
  expect(all.length).toBeGreaterThan(20);
  for (const dataset of new Set(all.map((one) => one.dataset))) {
    const { relation, history } = recordedNamed(dataset) ?? { relation: '', history: '' };
    const versions = await sql.unsafe<{ id: string }[]>(
      `select version_id::text as id from ${relationSql(history === 'sample' ? relation : `${relation}_history`)}`,
    );
    const ids = new Set(versions.map(({ id }) => id));
    const named = all.filter((one) => one.dataset === dataset);
    expect(
      named.filter(({ id }) => id === null || !ids.has(id)),
      dataset,
    ).toEqual([]);
  }
});
