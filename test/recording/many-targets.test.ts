import postgres from 'postgres';
import { afterAll, beforeAll, expect } from 'vitest';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import { storeByBisection } from '../../src/db/bisect-insert.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const TARGETS = 16;
const { it, database, sql } = withDatabase({ max: 1 });
/** Each target is recorded by a separate process, as far as the database can detect. */
let workers: postgres.Sql[];

beforeAll(() => {
  workers = Array.from({ length: TARGETS }, () => postgres(database.url, { max: 2, onnotice: () => {} }));
});
afterAll(() => Promise.all(workers.map((one) => one.end())));

/** The values of a target for the same transactions at the same time as all others. */
async function recordAtOnce(round: number, memoOf: (target: number) => string): Promise<void> {
  const clock = new ManualClock(Date.UTC(2026, 0, 1 + round)).read;
  const runs = await Promise.all(
    workers.map((worker, target) => {
      const feed = scriptedFeed(stakingTransactions, {
        network: 'sandbox',
        addresses: `P-${round}-${target}`,
      });
      const transactions = Array.from({ length: 20 }, (_, at) => ({
        ...stakingTransactions.example,
        txHash: `round ${round} tx ${at}`,
        memo: memoOf(target),
      }));
      feed.script = () => onlyPage({ transactions });
      return run(recordingContext(worker, clock), feed);
    }),
  );
  for (const one of runs) expect(one).toMatchObject({ status: 'done', quarantined: 0 });
}

it('stores an identical item of sixteen targets at once, without quarantine', async () => {
  for (let round = 0; round < 5; round++) await recordAtOnce(round, () => '0x');
  const [row] =
    await sql`select count(*)::int as rows, count(distinct tx_hash)::int as transactions from recorder.staking_transactions`;
  expect(row).toEqual({ rows: 100, transactions: 100 });
});

it('records different items of sixteen targets as a conflict with every value', async () => {
  for (let round = 5; round < 10; round++) await recordAtOnce(round, (target) => `0x${target}`);
  const rows = await sql<{ transactions: number; memos: number }[]>`
    select count(distinct tx_hash)::int as transactions, min(memos)::int as memos from (
      select tx_hash, count(distinct memo) as memos from reporting.staking_transactions_history
      where tx_hash >= 'round 5' and tx_hash < 'round:' group by tx_hash) t`;
  expect(rows[0]).toEqual({ transactions: 100, memos: TARGETS });
  expect(await sql`select reason from reporting.quarantine`).toEqual([]);
});

it('stores a row again that another target committed at the same time, instead of refusing it', async () => {
  const collisions = new Map([
    [2, 1],
    [5, 4],
    [6, 2],
  ]);
  const stored = new Set<number>();
  const refused = await storeByBisection([1, 2, 3, 4, 5, 6, 7], async (items) => {
    const colliding = items.find((item) => (collisions.get(item) ?? 0) > 0);
    if (colliding === undefined) for (const item of items) stored.add(item);
    else {
      collisions.set(colliding, (collisions.get(colliding) ?? 0) - 1);
      throw Object.assign(new postgres.PostgresError('duplicate key'), { code: '23505' });
    }
  });
  expect(refused).toEqual([]);
  expect([...stored].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});
