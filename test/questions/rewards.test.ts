import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { catalog } from '../../src/datasets/catalog.ts';
import { planAll } from '../../src/recording/plan.ts';
import { configFor, Recorder } from '../every-operation/support.ts';
import { stillSandbox } from '../sandbox/client.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { KnownRewards } from './truth/rewards.ts';

const DAY = 86_400_000;
const FIRST = Date.UTC(2025, 0, 1, 6);
/** Polls are ten days apart for a year; no stake is shorter than two weeks. */
const POLLS = Array.from({ length: 37 }, (_, at) => FIRST + at * 10 * DAY);
const LAST = POLLS.at(-1) ?? 0;
const RECORDED = ['staking_transactions', 'pending_rewards'];

let sandbox: Sandbox;
let clock: ManualClock;
/** With receipts, and a record of the pending rewards alone. */
let databases: TestDatabase[];
let sql: postgres.Sql;
let withoutReceipts: postgres.Sql;

beforeAll(async () => {
  ({ sandbox, clock } = await stillSandbox({
    genesisMs: FIRST - 199 * DAY,
    blocksPerHour: 0.25,
    validators: 14,
    utxos: 12,
    ledgerCalls: 10,
  }));
  databases = [await testDatabase(), await testDatabase()];
  const open = (at: number) => postgres(databases[at]?.url ?? '', { max: 2, onnotice: () => {} });
  [sql, withoutReceipts] = [open(0), open(1)];

  const recorders = [recorderOn(sql, RECORDED), recorderOn(withoutReceipts, ['pending_rewards'])];
  for (const polledAt of POLLS) {
    clock.advance(polledAt - clock.now());
    for (const recorder of recorders)
      for (const { status } of await recorder.round((feed, states, now) =>
        planAll(feed, feed.targets, states, now),
      ))
        expect(status).toBe('done');
  }
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await withoutReceipts?.end();
  await Promise.all((databases ?? []).map((one) => one.close()));
  await sandbox?.close();
});

const watched = () => sandbox.network.accounts.all.slice(0, 6);
const watchedSeats = () => sandbox.network.validators.nodes.slice(0, 3);

function recorderOn(on: postgres.Sql, datasets: readonly string[]): Recorder {
  const config = configFor(sandbox, [], {
    watch: {
      addresses: watched().map(({ address }) => `P-${address}`),
      nodeIds: watchedSeats().map(({ nodeId }) => nodeId),
    },
    datasets: Object.fromEntries(
      ['node_health', ...catalog.map(({ name }) => name)]
        .filter((name) => !datasets.includes(name))
        .map((name) => [name, { enabled: false }]),
    ),
  });
  return new Recorder(on, config, clock);
}

const knownRewards = (last = LAST, hasReceipts = true) =>
  new KnownRewards({
    ...{ sandbox, hasReceipts, polls: POLLS.filter((polledAt) => polledAt <= last), watched: watched() },
    nodeIds: watchedSeats().map(({ nodeId }) => nodeId),
  });

/** Returns the income by month in a window, in ms since 1970. */
function incomeOf(all: KnownRewards, from: number, to: number): string[] {
  const groups = new Map<string, { rewards: number; amount: bigint | null; expected: bigint | null }>();
  const add = (at: number, addresses: string | null, state: string, amount: bigint) => {
    if (at < from || at >= to) return;
    const key = `${new Date(at).toISOString().slice(0, 7)}-01 | ${addresses} | ${state}`;
    const before = groups.get(key) ?? { rewards: 0, amount: null, expected: null };
    groups.set(key, {
      rewards: before.rewards + 1,
      amount: state === 'received' ? (before.amount ?? 0n) + amount : before.amount,
      expected: state === 'expected' ? (before.expected ?? 0n) + amount : before.expected,
    });
  };
  for (const { at, addresses, isRecorded, amount } of all.receipts())
    add(at, addresses, isRecorded ? 'received' : 'not recorded', amount);
  for (const { state, due_at, recipients, estimate } of all.rows())
    if (state === 'expected' || state === 'not recorded')
      add(Date.parse(due_at), recipients, state, BigInt(estimate ?? 0));
  const lines = [...groups].map(
    ([key, { rewards, amount, expected }]) => `${key} | ${rewards} | ${amount} | ${expected}`,
  );
  return lines.sort();
}

const inOrder = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();

/** Returns the rows of the view, or of the record at a past moment. */
async function storedRewards(on: postgres.Sql, at?: number) {
  const from = at === undefined ? on`reporting.rewards` : on`reporting.rewards_as_of(${new Date(at)})`;
  const rows =
    await on`select staking_tx_hash, reward_type, due_at, state, estimate, received, received_at, reward_tx_hash,
    recipients, difference from ${from}`;
  return inOrder(rows);
}

async function storedIncome(on: postgres.Sql, from: number, to: number) {
  const rows = await on<{ line: string }[]>`
    select concat_ws(' | ', period, coalesce(addresses, 'null'), state, rewards, coalesce(amount::text, 'null'), coalesce(expected::text, 'null')) as line
    from reporting.income(${new Date(from)}, ${new Date(to)}, 'month', as_of => ${new Date(LAST)})`;
  return rows.map(({ line }) => line).sort();
}

describe('a year of rewards', () => {
  it('contains every possible event', () => {
    const rows = knownRewards(LAST).rows();
    const count = (is: (row: (typeof rows)[number]) => boolean) => rows.filter(is).length;
    for (const state of ['received', 'refused', 'expected', 'not recorded'])
      expect(
        count((row) => row.state === state),
        state,
      ).toBeGreaterThan(3);
    for (const type of ['VALIDATOR', 'DELEGATOR', 'VALIDATOR_FEE'])
      expect(
        count((row) => row.reward_type === type && row.state === 'received'),
        type,
      ).toBeGreaterThan(2);
    expect(count(({ difference }) => difference === '0')).toBeGreaterThan(3);
    expect(
      count(({ difference, state }) => state === 'received' && (difference ?? '').startsWith('-')),
    ).toBeGreaterThan(3);
    expect(count(({ recipients }) => (recipients ?? '').includes(', '))).toBeGreaterThan(3);
  });

  it('is exact in reporting.rewards, now and as known at past polls', async () => {
    expect(await storedRewards(sql)).toEqual(inOrder(knownRewards(LAST).rows()));
    for (const at of [0, 9, 20, 30]) {
      const polledAt = POLLS[at] ?? 0;
      expect(await storedRewards(sql, polledAt + 1000)).toEqual(inOrder(knownRewards(polledAt).rows()));
    }
  });

  it('has as income only received rewards, with expected ones separate', async () => {
    const [from, to] = [Date.UTC(2025, 0, 1), Date.UTC(2026, 6, 1)];
    expect(await storedIncome(sql, from, to)).toEqual(incomeOf(knownRewards(), from, to));
  });

  it('is marked as not recorded without receipts, and never replaced by an estimate', async () => {
    expect(await storedRewards(withoutReceipts)).toEqual(inOrder(knownRewards(LAST, false).rows()));
    const [from, to] = [Date.UTC(2025, 0, 1), Date.UTC(2026, 6, 1)];
    expect(await storedIncome(withoutReceipts, from, to)).toEqual(
      incomeOf(knownRewards(LAST, false), from, to),
    );
    const [row] = await withoutReceipts`
      select distinct state, amount, tokens, expected, value from reporting.income(${new Date(from)}, ${new Date(to)})`;
    expect(row).toEqual({ state: 'not recorded', amount: null, tokens: null, expected: null, value: null });
  });
});
