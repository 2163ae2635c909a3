import { pino } from 'pino';
import { beforeEach, describe, expect } from 'vitest';
import { nftTokens } from '../../src/datasets/chain-data/nft-tokens.ts';
import type { Target } from '../../src/datasets/contract.ts';
import { averageTps } from '../../src/datasets/metrics/average-tps.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { type ActiveFeed, withDefaultSettings } from '../../src/recording/active-feed.ts';
import { redrive } from '../../src/recording/redrive.ts';
import { registerAll } from '../../src/recording/register.ts';
import { retireRemovedTargets } from '../../src/recording/retire-removed-targets.ts';
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
const start = Date.UTC(2026, 0, 10);
const minute = 60_000;
const day = 86_400_000;
const clock = new ManualClock(start);
const context = () => recordingContext(sql, clock.read);
/** A format that no version of the recorder can decode yet. */
const UNREADABLE = 13;
const STILL_UNREADABLE = 14;
let targets = 0;

beforeEach(async () => {
  clock.now = start;
  targets += 1;
  await sql`truncate recorder.quarantine`;
  await refuseValues(UNREADABLE, STILL_UNREADABLE);
});

/** The values with which PostgreSQL refuses rows, so that their items are quarantined with their keys. */
async function refuseValues(...values: readonly number[]): Promise<void> {
  for (const [table, column] of [
    ['validators', 'weight'],
    ['average_tps', 'value'],
    ['metric_points', 'value'],
    ['nft_tokens', 'name'],
  ])
    await sql.unsafe(`
      alter table recorder.${table} drop constraint if exists unread;
      alter table recorder.${table} add constraint unread check (${column} not in (${values.map((value) => `'${value}'`).join(', ')})) not valid`);
}

/**
 * Decodes the quarantine again with a recorder that can decode what the previous one could not, and returns the result.
 */
async function redriveAfterUpdate(feed: ActiveFeed) {
  clock.now += minute;
  await refuseValues(STILL_UNREADABLE);
  return redrive(context(), [feed]);
}

/** Polls a list, a minute after the previous poll. */
async function poll(feed: ScriptedFeed, members: Readonly<Record<string, number>>) {
  clock.now += minute;
  feed.script = () => onlyPage(listOf(members));
  return run(context(), feed);
}
const listOf = (members: Readonly<Record<string, number>>) => ({
  validators: Object.entries(members).map(([nodeID, weight]) => ({ nodeID, startTime: 1, weight })),
});
const at = (minutes: number) => new Date(start + minutes * minute);

describe('an item of a list that is decoded later', () => {
  const createList = () => {
    const subnetId = `list-${targets}`;
    const feed = scriptedFeed(
      validators,
      { node: 'n', subnetId },
      { confirmShrink: { observations: 1, minDuration: 0 } },
    );
    return { feed, history: () => selectHistory(subnetId) };
  };
  const selectHistory = async (subnetId: string) => [
    ...(await sql`
      select node_id as id, weight::int, valid_from as from, valid_to as to from reporting.node_validators_history
      where subnet_id = ${subnetId} order by node_id, valid_from`),
  ];

  it('applies from its observation if the newest poll showed it', async () => {
    const { feed, history } = createList();
    await poll(feed, { a: 1, b: 1 });
    await poll(feed, { a: UNREADABLE, b: 1, c: UNREADABLE });
    await poll(feed, { a: UNREADABLE, b: 1, c: UNREADABLE });
    clock.now += minute;
    feed.script = failingWalk('server', 'down since then');
    await run(context(), feed);
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 2, rowsWritten: 2 });
    expect(await history()).toEqual([
      { id: 'a', weight: 1, from: at(1), to: at(2) },
      { id: 'a', weight: UNREADABLE, from: at(2), to: null },
      { id: 'b', weight: 1, from: at(1), to: null },
      { id: 'c', weight: UNREADABLE, from: at(2), to: null },
    ]);
  });

  it('changes nothing if its member left since', async () => {
    const { feed, history } = createList();
    await poll(feed, { a: 1, b: 1, c: 1 });
    await poll(feed, { a: UNREADABLE, b: 1, c: 1 });
    await poll(feed, { b: 1, c: 1 });
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 1, rowsWritten: 0 });
    expect(await history()).toEqual([
      { id: 'a', weight: 1, from: at(1), to: at(3) },
      { id: 'b', weight: 1, from: at(1), to: null },
      { id: 'c', weight: 1, from: at(1), to: null },
    ]);
  });

  it('changes nothing if a later poll showed the previous value, or no such member, though some items stay undecoded', async () => {
    const { feed, history } = createList();
    await poll(feed, { a: 1, x: STILL_UNREADABLE });
    await poll(feed, { a: UNREADABLE, joined: UNREADABLE, x: STILL_UNREADABLE });
    await poll(feed, { a: 1, x: STILL_UNREADABLE });
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 2, rowsWritten: 0 });
    expect(await history()).toEqual([{ id: 'a', weight: 1, from: at(1), to: null }]);
  });

  it('stores nothing for the time in which its member was missing', async () => {
    const { feed, history } = createList();
    await poll(feed, { a: 1, b: 1 });
    await poll(feed, { a: UNREADABLE, b: 1 });
    await poll(feed, { b: 1 });
    await poll(feed, { a: UNREADABLE, b: 1 });
    await redriveAfterUpdate(feed);
    await poll(feed, { a: UNREADABLE, b: 1 });
    expect(await history()).toEqual([
      { id: 'a', weight: 1, from: at(1), to: at(3) },
      { id: 'a', weight: UNREADABLE, from: at(6), to: null },
      { id: 'b', weight: 1, from: at(1), to: null },
    ]);
  });

  it('changes nothing if the list is not watched any more, or was watched again only later', async () => {
    const by = { recorder: 'recorder', digest: null };
    const target = { node: `n${targets}`, subnetId: `list-${targets}` };
    const members = { a: 1, x: UNREADABLE };
    const source = { ...validators.source, walk: () => onlyPage(listOf(members)) };
    const feed = withDefaultSettings({ source, datasets: [{ ...validators, source }] }, [target]);
    await registerAll(sql, [feed], clock.now, by);
    clock.now += minute;
    await run(context(), feed);
    const [item] = await sql`select * from recorder.quarantine`;
    clock.now += minute;
    await registerAll(sql, [], clock.now, by);
    await retireRemovedTargets(context(), by, pino({ level: 'silent' }));
    const ended = [{ id: 'a', weight: 1, from: at(1), to: at(2) }];
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 1, rowsWritten: 0 });
    expect(await selectHistory(target.subnetId)).toEqual(ended);
    await sql`insert into recorder.quarantine ${sql(item ?? {})}`;
    await registerAll(sql, [feed], clock.now, by);
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 1, rowsWritten: 0 });
    expect(await selectHistory(target.subnetId)).toEqual(ended);
  });

  it('changes nothing if it was requested alone, and its list later', async () => {
    const list = { chainId: '1', collection: `0x${targets}` };
    const pollTokens = async (target: Target, value: number, whole: boolean) => {
      clock.now += minute;
      const token = { ...nftTokens.example, address: list.collection, tokenId: '1', name: `${value}` };
      const source = { ...nftTokens.source, walk: () => onlyPage({ tokens: [token] }, { whole }) };
      const feed = withDefaultSettings({ source, datasets: [{ ...nftTokens, source }] }, [target]);
      await run(context(), feed);
      return feed;
    };
    await pollTokens(list, 1, true);
    await pollTokens({ ...list, tokenId: '1' }, UNREADABLE, false);
    const feed = await pollTokens(list, 1, true);
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 1, rowsWritten: 0 });
    const versions = await sql`
      select name, valid_from as from, valid_to as to from reporting.nft_tokens_history where collection = ${list.collection}`;
    expect([...versions]).toEqual([{ name: '1', from: at(1), to: null }]);
  });
});

describe('a point that is decoded later', () => {
  it('changes nothing if the points were all fetched since', async () => {
    const chainId = `chain-${targets}`;
    const feed = scriptedFeed(averageTps, { chainId });
    const pollPoints = async (...values: readonly number[]) => {
      clock.now += minute;
      feed.script = () =>
        onlyPage({
          results: values.map((value, index) => ({ timestamp: (18_262 + index) * 86_400, value })),
        });
      await run(context(), feed);
    };
    const selectRevisions = async () => [
      ...(await sql`
        select value::int, valid_from as from, valid_to as to from reporting.average_tps_history
        where chain_id = ${chainId} order by bucket_start, valid_from`),
    ];
    await pollPoints(1, 2);
    await pollPoints(UNREADABLE, 2);
    await pollPoints(1, UNREADABLE);
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 2, rowsWritten: 1 });
    expect(await selectRevisions()).toEqual([
      { value: 1, from: at(1), to: null },
      { value: 2, from: at(1), to: at(3) },
      { value: UNREADABLE, from: at(3), to: null },
    ]);
  });

  it('is stored if the newest poll covered later ones', async () => {
    const chainId = `chain-${targets}`;
    const feed = scriptedFeed(
      metricPoints,
      { chainId, metric: 'txCount', timeInterval: 'day' },
      { range: { axis: 'time', span: () => 10 * day, head: () => 10 * day, settle: 0, lookback: 90 * day } },
    );
    const ago = (days: number, value: number) => ({ timestamp: (start - days * day) / 1000, value });
    const pollWindow = async (from: number, to: number, ...points: readonly object[]) => {
      clock.now += minute;
      feed.script = (window) => onlyPage({ results: points }, { proven: window });
      await run(context(), feed, { from: start - from * day, to: start - to * day });
    };
    await pollWindow(30, 20, ago(21, 1), ago(22, 2), ago(23, UNREADABLE));
    await pollWindow(30, 20, ago(21, 1), ago(22, UNREADABLE), ago(23, UNREADABLE));
    for (const value of [1, UNREADABLE, 1]) await pollWindow(10, -1, ago(1, value), ago(2, 2));
    expect(await redriveAfterUpdate(feed)).toMatchObject({ released: 3, rowsWritten: 2 });
    const points = await sql`
      select value::int from reporting.metric_points where chain_id = ${chainId} order by bucket_start`;
    expect(points.map(({ value }) => value)).toEqual([UNREADABLE, UNREADABLE, 1, 2, 1]);
  });
});
