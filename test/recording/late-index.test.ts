import { expect } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import { claimableUntil } from '../../src/recording/index-progress.ts';
import { withDatabase } from '../support/fixture.ts';
import type { LateBlock } from '../support/late-index.ts';
import {
  checkLateIndexes,
  createLateIndexRecorder,
  day,
  hour,
  indexedDatasets,
  type LateIndexOptions,
  numbers,
  start,
} from './late-index.ts';

const { it, sql } = withDatabase({ max: 4 });
const recorder = (blocks: readonly LateBlock[], every: number, polled?: LateIndexOptions) =>
  createLateIndexRecorder(sql, blocks, every, polled);

it('lists every dataset of an index for random late indexes', () => {
  const declared = catalog.filter(({ source }) => source.range?.index);
  expect(indexedDatasets.map(({ name }) => name).sort()).toEqual(declared.map(({ name }) => name).sort());
});

const hourly = (count: number, late: (number: number, at: number) => number): LateBlock[] =>
  Array.from({ length: count }, (_, number) => {
    const at = start + number * hour;
    return { number, at, indexedAt: at + late(number, at) };
  });

it.each([
  ['up', 'proposed_blocks'],
  ['record', 'proposed_blocks'],
  ['up', 'staking_transactions'],
  ['record', 'native_transactions'],
] as const)(
  'records what an index shows 24 hours late by the polls of %s, and does not claim it before: %s',
  async (by, name) => {
    const blocks = hourly(72, () => day);
    const { clock, poll, selectRecorded, missing } = await recorder(blocks, 6 * hour, { name });
    for (; clock.now < start + 5 * day; clock.now += 6 * hour) {
      await poll(by);
      expect((await missing()).claimed).toEqual([]);
    }
    expect([...(await selectRecorded())].sort((a, b) => a - b)).toEqual(numbers(blocks));
  },
);

it('records blocks that left the newest page by the daily sweep', async () => {
  // Every fourth block is shown 60 hours after the others, which fill more than a page meanwhile.
  const blocks = hourly(96, (number) => (number % 4 === 0 ? 60 * hour : 0));
  const { clock, poll, selectRecorded, missing } = await recorder(blocks, 3 * hour, { page: 10 });
  for (; clock.now < start + 8 * day; clock.now += 3 * hour) {
    await poll('up');
    expect((await missing()).claimed).toEqual([]);
  }
  expect((await selectRecorded()).size).toBe(blocks.length);
});

it('records blocks of a stall of 20 days within a day of its end', async () => {
  const stalled = { from: start + 2 * day, to: start + 22 * day };
  const blocks = hourly(25 * 24, (_, at) => (at >= stalled.from && at < stalled.to ? stalled.to - at : 0));
  const { clock, poll, selectRecorded, missing } = await recorder(blocks, 12 * hour, { page: 40 });
  for (; clock.now < start + 26 * day; clock.now += 12 * hour) {
    await poll('record');
    expect((await missing()).claimed).toEqual([]);
    if (clock.now >= stalled.to + day)
      expect((await selectRecorded()).size).toBe(blocks.filter(({ at }) => at <= clock.now).length);
  }
});

it('sweeps each target daily if recorded at the same time of every day, also if the sweep falls due during the walk', async () => {
  // The sweeps of the targets are due at different times; a walk takes hours.
  for (let target = 0; target < 12; target += 1) {
    const blocks = hourly(95, (number) => (number === 2 ? 30 * hour : 0));
    const { clock, poll, selectRecorded } = await recorder(blocks, day, {
      page: 2,
      callDurationMs: hour / 2,
    });
    for (let days = 1; days <= 4; days += 1) {
      clock.now = start + days * day;
      await poll('record');
    }
    expect(
      [...(await selectRecorded())].sort((a, b) => a - b),
      `target ${target}`,
    ).toEqual(numbers(blocks));
  }
});

it.each(['proposed_blocks', 'native_transactions'] as const)(
  'repeats a failed sweep of %s within the next hours, once, and before the sweep of the next day',
  async (name) => {
    const delay = 30 * hour;
    const blocks = hourly(96, (number) => (number === 2 ? delay : 0));
    let [calls, failed] = [0, false];
    const { clock, key, poll, selectRecorded } = await recorder(blocks, hour, {
      ...{ name, page: 5, mayFail: true },
      // The first call is that of the poll. The first sweep after the late item is shown fails.
      failure: () => {
        calls += 1;
        if (failed || calls === 1 || clock.now < start + 2 * hour + delay) return null;
        failed = true;
        return 'server';
      },
    });
    const allSweeps: [number, string][] = [];
    for (; clock.now < start + 4 * day; clock.now += hour) {
      calls = 0;
      await poll('up');
      const sweeps = await sql<{ status: string }[]>`
        select status from recorder.runs where reason = 'sweep' and target_key = ${key} and started_at = ${new Date(clock.now)}`;
      for (const { status } of sweeps) allSweeps.push([clock.now, status]);
      const failure = allSweeps.findIndex(([, status]) => status === 'failed');
      if (failure >= 0 && clock.now >= (allSweeps[failure]?.[0] ?? 0) + 2 * hour)
        expect((await selectRecorded()).has(2)).toBe(true);
    }
    expect(failed).toBe(true);
    const [at = 0] = allSweeps.find(([, status]) => status === 'failed') ?? [];
    const laterSweeps = allSweeps.filter(([moment]) => moment > at);
    expect(laterSweeps[0]?.[0]).toBeLessThanOrEqual(at + 2 * hour);
    expect(laterSweeps.every(([, status]) => status === 'done')).toBe(true);
    // Then only the sweeps of each day follow.
    expect(laterSweeps.length).toBe(1 + allSweeps.filter(([moment]) => moment > at + 3 * hour).length);
    expect(laterSweeps.length).toBeLessThanOrEqual(3);
  },
);

it.each(['proposed_blocks', 'staking_transactions'] as const)(
  'does not conclude from an item of %s with a time before any chain that all newer items were shown',
  async (name) => {
    // The last item of the first page after a pause has the time 0.
    const blocks = hourly(40, () => 0).map((one) => (one.number === 30 ? { ...one, statedTime: 0 } : one));
    const { clock, poll, selectRecorded, missing } = await recorder(blocks, hour, { name, page: 10 });
    await poll('up');
    clock.now += 39 * hour;
    await poll('up');
    expect((await missing()).claimed).toEqual([]);
    expect([...(await selectRecorded())].sort((a, b) => a - b)).toEqual(numbers(blocks));
  },
);

it('reports a failed poll although a later sweep succeeds', async () => {
  let isFailing = false;
  const { clock, poll } = await recorder(
    hourly(72, () => 0),
    6 * hour,
    {
      page: 10,
      name: 'erc1155_transfers',
      mayFail: true,
      // Only the first call fails, which is that of the poll.
      failure: () => {
        const failure = isFailing ? 'server' : null;
        isFailing = false;
        return failure;
      },
    },
  );
  const state = async () => {
    const [row] = await sql`
      select d.failures, (select array_agg(reason || ' ' || status order by run_id) from reporting.runs r
        where r.started_at = ${new Date(clock.now)} and r.dataset = d.dataset) as runs
      from recorder.target_datasets d where d.dataset = 'erc1155_transfers' order by d.requested_since desc, d.target_key desc limit 1`;
    return row;
  };
  for (; clock.now < start + day; clock.now += 6 * hour) await poll('up');
  clock.now += day; // a sweep is due with this poll
  isFailing = true;
  await poll('up');
  expect(await state()).toEqual({ failures: 1, runs: ['poll failed', 'sweep done'] });
});

it('claims nothing missing for any delay of an index, and records everything after the last poll and a day of sweeps', async () => {
  await checkLateIndexes(sql, 5, { seed: 20261126 });
});

it('reports a stall by the times of the items in polls, until the index catches up', async () => {
  await sql`update recorder.target_datasets set active = false`; // those of other tests
  const stalled = { from: start + 2 * day, to: start + 4 * day };
  const blocks = hourly(6 * 24, (_, at) => (at >= stalled.from && at < stalled.to ? stalled.to - at : 0));
  const { clock, poll } = await recorder(blocks, 6 * hour);
  const reported: number[] = [];
  for (; clock.now < start + 6 * day; clock.now += 6 * hour) {
    await poll('record');
    const findings = await sql<{ since: Date }[]>`
      select since from reporting.findings where component = 'index-stalled'`;
    expect(findings.length).toBeLessThanOrEqual(1);
    for (const { since } of findings) {
      expect(since.getTime()).toBe(stalled.from - hour);
      reported.push(clock.now);
    }
  }
  expect([reported[0], reported.at(-1)]).toEqual([stalled.from + 12 * hour, stalled.to - 6 * hour]);
});

it('reports an index that goes back at the next poll, and claims nothing newer for any target until it catches up', async () => {
  await sql`update recorder.target_datasets set active = false`; // those of other tests
  const hiddenRange = { from: start + 6 * day, to: start + 7 * day };
  // For a day, the index shows nothing of the last five days.
  const blocks = hourly(8 * 24, () => 0).map((one) => ({
    ...one,
    hidden: one.at >= start + day ? hiddenRange : undefined,
  }));
  const { clock, key, poll } = await recorder(blocks, 6 * hour);
  const reported: number[] = [];
  for (; clock.now < start + 8 * day; clock.now += 6 * hour) {
    await poll('up');
    const [target] = await sql<{ index: string }[]>`
      select index_name as index from recorder.targets where target_key = ${key}`;
    const isBack = clock.now >= hiddenRange.from && clock.now < hiddenRange.to;
    const newest = isBack ? start + day - hour : clock.now;
    expect(await claimableUntil(sql, target?.index ?? '', clock.now)).toBe(newest);
    const findings = await sql`select since from reporting.findings where component = 'index-stalled'`;
    expect([...findings]).toEqual(isBack ? [{ since: new Date(newest) }] : []);
    if (isBack) reported.push(clock.now);
  }
  expect(reported).toHaveLength(4);
});
