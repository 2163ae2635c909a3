import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { deploymentTransactions } from '../../../src/datasets/chain-data/deployment-transactions.ts';
import { nativeTransactions } from '../../../src/datasets/chain-data/native-transactions.ts';
import { stakingTransactions } from '../../../src/datasets/chain-data/staking-transactions.ts';
import type { Dataset } from '../../../src/datasets/contract.ts';
import { CONTRADICTION_REASON } from '../../../src/recording/decode.ts';
import type { Reason } from '../../../src/recording/job.ts';
import { redrive } from '../../../src/recording/redrive.ts';
import { targetKey } from '../../../src/recording/target-key.ts';
import { waitUntilBlocked } from '../../support/blocked-statements.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, pagesWith, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
const never = new AbortController().signal;

let addresses = 0;

/** A feed of transactions of a separate address, and its recorded entries. */
function createLog(dataset: Dataset = nativeTransactions) {
  addresses += 1;
  const address = `0x${addresses}`;
  const feed = scriptedFeed(dataset, { chainId: '43114', address });
  const clock = new ManualClock(start);
  const jobSettings: { reason: Reason } = { reason: 'poll' };
  return {
    feed,
    clock,
    /** Reason of the next runs. */
    jobSettings,
    address,
    /** Executes a run, a second later, whose pages contain these items. @returns the number of written rows */
    async recordPages(...pages: readonly (readonly object[])[]): Promise<number> {
      clock.now += 1000;
      feed.script = () => pagesWith(pages.map((transactions) => ({ transactions })));
      const result = await run(recordingContext(sql, clock.read), feed, null, never, jobSettings.reason);
      return result.rowsWritten[0] ?? 0;
    },
    versions: async () => [
      ...(await sql<Version[]>`
        select tx_hash as hash, block_number::int as block, tx_status as status, to_name as name,
          to_char(valid_from, 'YYYY-MM-DD HH24:MI:SS.US') as from, to_char(valid_to, 'YYYY-MM-DD HH24:MI:SS.US') as to
        from recorder.native_transactions where address = ${address} order by tx_hash, valid_from`),
    ],
    history: async () => [
      ...(await sql<
        { block: number; status: string | null; differs: string[] | null; is_current: boolean }[]
      >`
        select block_number::int as block, tx_status as status, differs, valid_to is null as is_current
        from reporting.native_transactions_history where address = ${address} order by tx_hash, valid_from`),
    ],
    current: async () => [
      ...(await sql<{ block: number; status: string | null }[]>`
        select block_number::int as block, tx_status as status from reporting.native_transactions
        where address = ${address} order by tx_hash`),
    ],
  };
}

interface Version {
  readonly hash: string;
  readonly block: number;
  readonly status: string | null;
  readonly name: string | null;
  readonly from: string;
  readonly to: string | null;
}

interface ObservedEntry {
  readonly hash: string;
  readonly block: number;
  readonly status: string | null;
  /** The current name of the called contract: not a part of the transaction. */
  readonly name: string | null;
}

const transaction = ({ hash, block, status, name }: ObservedEntry, more: object = {}) => ({
  txHash: hash,
  blockNumber: block,
  blockTimestamp: 1_700_000_000,
  ...(status === null ? {} : { txStatus: status }),
  to: { address: '0xb', ...(name === null ? {} : { name }) },
  ...more,
});
const tx = (block: number, status: string | null = '1', more: object = {}) =>
  transaction({ hash: 'a', block, status, name: null }, more);

/** The plain truth: every value of one entry, in order. */
function addVersion(before: readonly ObservedEntry[], entry: ObservedEntry): ObservedEntry[] {
  const current = before.at(-1);
  if (!current) return [entry];
  const isContradiction =
    entry.block !== current.block ||
    (entry.status !== null && current.status !== null && entry.status !== current.status);
  if (isContradiction) return [...before, entry];
  if (entry.status === null || current.status !== null) return [...before];
  return [...before, { ...entry, name: entry.name ?? current.name }];
}

/** The first of several values of an entry on one page. */
const firstOfEach = (page: readonly ObservedEntry[]) =>
  page.filter(({ hash }, at) => page.findIndex((one) => one.hash === hash) === at);

describe('a log', () => {
  it('keeps all versions of an entry and shows the last, for any pages, runs, reasons and clocks', async () => {
    const entry = fc.record({
      hash: fc.constantFrom('a', 'b', 'c'),
      block: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('0', '1', null),
      name: fc.constantFrom('x', 'y', null),
    });
    const page = fc.array(entry, { maxLength: 6 });
    const step = fc.record({
      pages: fc.array(page, { minLength: 1, maxLength: 3 }),
      after: fc.integer({ min: -3000, max: 5000 }),
      reason: fc.constantFrom<Reason>('poll', 'backfill'), // which expects new rows
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const subject = createLog();
        const versionsByHash = new Map<string, ObservedEntry[]>();
        const count = () => [...versionsByHash.values()].reduce((sum, one) => sum + one.length, 0);
        for (const { pages, after, reason } of steps) {
          subject.jobSettings.reason = reason;
          subject.clock.now += after;
          const before = count();
          for (const one of pages.flatMap(firstOfEach))
            versionsByHash.set(one.hash, addVersion(versionsByHash.get(one.hash) ?? [], one));
          const written = await subject.recordPages(
            ...pages.map((items) => items.map((one) => transaction(one))),
          );
          expect(written).toBe(count() - before);
        }
        const expected = [...versionsByHash.keys()].sort().flatMap((hash) => versionsByHash.get(hash) ?? []);
        const versions = await subject.versions();
        expect(versions.map(({ hash, block, status, name }) => ({ hash, block, status, name }))).toEqual(
          expected,
        );
        for (const [at, { hash, from, to }] of versions.entries()) {
          const next = versions[at + 1];
          expect(to).toBe(next?.hash === hash ? next.from : null);
          if (to !== null) expect(from < to).toBe(true);
        }
        const last = [...versionsByHash.keys()].sort().map((hash) => versionsByHash.get(hash)?.at(-1));
        expect(await subject.current()).toEqual(
          last.map((one) => ({ block: one?.block, status: one?.status })),
        );
        expect(await subject.history()).toHaveLength(expected.length);
      }),
      { numRuns: 60 },
    );
  });

  it('reports for each earlier version what differs now', async () => {
    const { recordPages, history, current } = createLog();
    await recordPages([tx(7)]);
    expect(await recordPages([tx(8, '0')])).toBe(1);
    expect(await current()).toEqual([{ block: 8, status: '0' }]);
    expect(await history()).toEqual([
      { block: 7, status: '1', differs: ['tx_status', 'block_number'], is_current: false },
      { block: 8, status: '0', differs: null, is_current: true },
    ]);
  });

  it('stores a returning value as a new version', async () => {
    const { recordPages, history } = createLog();
    for (const block of [7, 8, 7]) await recordPages([tx(block)]);
    expect((await history()).map(({ block, differs }) => [block, differs])).toEqual([
      [7, []],
      [8, ['block_number']],
      [7, null],
    ]);
  });

  it('ignores volatile fields, unknown fields, and other spellings of a value', async () => {
    const { recordPages, versions } = createLog();
    await recordPages([tx(7, '1', { value: '10', method: { callType: 'a' } })]);
    expect(await recordPages([tx(7, '1', { value: '010', method: { callType: 'a' }, novel: 1 })])).toBe(0);
    expect(
      await recordPages([tx(7, '1', { value: '10', to: { address: '0xB', name: 'Renamed', decimals: 9 } })]),
    ).toBe(0);
    expect(await versions()).toMatchObject([{ name: null, to: null }]);
  });

  it('completes an entry by a fuller item, and keeps its values if an item omits them', async () => {
    const { recordPages, address } = createLog();
    await recordPages([tx(7, null, { gasUsed: '5' })]);
    expect(await recordPages([tx(7, '1')])).toBe(1);
    expect(await recordPages([tx(7, null)])).toBe(0);
    expect(await recordPages([tx(7, '1', { gasUsed: '5' })])).toBe(0);
    const rows = await sql`
      select tx_status, gas_used from reporting.native_transactions where address = ${address}`;
    expect([...rows]).toEqual([{ tx_status: '1', gas_used: '5' }]);
  });

  it('does not alternate if one page has two values', async () => {
    const { recordPages, versions, address } = createLog();
    for (const written of [1, 0, 0]) expect(await recordPages([tx(7), tx(8)])).toBe(written);
    expect((await versions()).map(({ block }) => block)).toEqual([7]);
    const quarantined = await sql`
      select reason, item::jsonb ->> 'blockNumber' as block from recorder.quarantine 
      where target_key = ${targetKey({ chainId: '43114', address })}`;
    expect([...quarantined]).toEqual([{ reason: CONTRADICTION_REASON, block: '8' }]);
  });

  it('stores the valid items of a batch with an invalid one', async () => {
    const { feed, clock, history, recordPages } = createLog();
    await recordPages([tx(7)]);
    await sql`alter table recorder.native_transactions add constraint poison check (block_number <> 666)`;
    const other = transaction({ hash: 'other', block: 1, status: '1', name: null });
    const pages = [[tx(666)], [other], [tx(8)], [tx(666)], [tx(9)]];
    feed.script = () => pagesWith(pages.map((transactions) => ({ transactions })));
    clock.now += 1000;
    const result = await run(recordingContext(sql, clock.read), feed);
    await sql`alter table recorder.native_transactions drop constraint poison`;
    expect(result).toMatchObject({ status: 'partial', rowsWritten: [3], quarantined: 2 });
    expect((await history()).map(({ block }) => block)).toEqual([7, 8, 9, 1]);
  });

  it('stores an item that was observed earlier and decoded later, without showing it', async () => {
    const { feed, clock, recordPages, history, current, address } = createLog();
    await recordPages([tx(7)]);
    await sql`truncate recorder.quarantine`;
    const key = targetKey({ chainId: '43114', address });
    const insertQuarantined = (observedAt: number, item: object) => sql`
      insert into recorder.quarantine (dataset, target_key, digest, run_id, quarantined_at, last_seen, observed_at, reason, item)
      values ('native_transactions', ${key}, ${String(observedAt)}, 1, now(), now(), ${new Date(observedAt)},
        'once unreadable', ${JSON.stringify(item)})`;
    await insertQuarantined(start, tx(6));
    await insertQuarantined(start + 1, tx(7));
    await insertQuarantined(clock.now + 10, tx(8));
    clock.now += 60_000;
    expect(await redrive(recordingContext(sql, clock.read), [feed])).toMatchObject({
      released: 3,
      rowsWritten: 2,
    });
    expect(await current()).toEqual([{ block: 8, status: '1' }]);
    expect((await history()).map(({ block, is_current }) => [block, is_current])).toEqual(
      expect.arrayContaining([
        [6, false],
        [7, false],
        [8, true],
      ]),
    );
  });

  it('includes what another run writes of the same entry at the same moment', async () => {
    const staked = (blockNumber: string) => ({
      txHash: 'shared',
      txType: 'x',
      blockTimestamp: 1,
      blockNumber,
    });
    const feed = scriptedFeed(stakingTransactions, { network: 'mainnet', addresses: 'P-one' });
    const clock = new ManualClock(start);
    feed.script = () => onlyPage({ transactions: [staked('2')] });
    const other = await sql.reserve();
    await other`begin`;
    await other`insert into recorder.staking_transactions (network, tx_hash, tx_type, block_timestamp, block_number, valid_from, run_id)
      values ('mainnet', 'shared', 'x', to_timestamp(1), 1, ${new Date(start - 1000)}, 1)`;
    const running = run(recordingContext(sql, clock.read), feed);
    await waitUntilBlocked(sql);
    await other`commit`;
    expect(await running).toMatchObject({ status: 'done', rowsWritten: [1] });
    // The same, with a new value of a known entry in both.
    await other`begin`;
    await other`update recorder.staking_transactions set valid_to = ${new Date(start + 500)} where tx_hash = 'shared' and valid_to is null`;
    await other`insert into recorder.staking_transactions (network, tx_hash, tx_type, block_timestamp, block_number, valid_from, run_id)
      values ('mainnet', 'shared', 'x', to_timestamp(1), 3, ${new Date(start + 500)}, 1)`;
    clock.now += 1000;
    feed.script = () => onlyPage({ transactions: [staked('4')] });
    const secondRun = run(recordingContext(sql, clock.read), feed);
    await waitUntilBlocked(sql);
    await other`commit`;
    other.release();
    expect(await secondRun).toMatchObject({ status: 'done', rowsWritten: [1] });
    const rows = await sql<{ block: number; is_current: boolean }[]>`
      select block_number::int as block, valid_to is null as is_current
      from reporting.staking_transactions_history order by valid_from`;
    expect(rows.map(({ block, is_current }) => [block, is_current])).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ]);
  });

  it('compares lists without the volatile fields of their elements, whatever the elements are', async () => {
    const target = { chainId: '43114', address: '0xlists' };
    const feed = scriptedFeed(deploymentTransactions, target);
    const clock = new ManualClock(start);
    const recordTransfers = async (erc20Transfers: unknown) => {
      clock.now += 1000;
      feed.script = () => onlyPage({ nativeTransaction: tx(7), erc20Transfers });
      return (await run(recordingContext(sql, clock.read), feed)).rowsWritten;
    };
    const transfer = (value: string, price: number, name: string) => ({
      from: { address: '0xa', name },
      value,
      erc20Token: { address: '0xc', price: { value: price }, name },
    });
    await recordTransfers([transfer('5', 1, 'a'), 5, null, 'x', ['a'], { from: ['name'], erc20Token: 'x' }]);
    expect(
      await recordTransfers([
        transfer('5', 2, 'b'),
        5,
        null,
        'x',
        ['a'],
        { from: ['name'], erc20Token: 'x' },
      ]),
    ).toEqual([0]);
    expect(
      await recordTransfers([transfer('5', 2, 'b'), 5, null, 'x', ['a'], { from: [], erc20Token: 'x' }]),
    ).toEqual([1]);
    expect(await recordTransfers([transfer('6', 2, 'b')])).toEqual([1]);
    expect(await recordTransfers([])).toEqual([1]);
    expect(await recordTransfers(undefined)).toEqual([0]);
    const [transfers] = await sql`
      select count(*)::int as n from reporting_lists.deployment_transactions_erc20_transfers
      where address = '0xlists' and valid_to is null`;
    expect(transfers).toEqual({ n: 0 });
    const versions = await sql<{ differs: string[] | null }[]>`
      select differs from reporting.deployment_transactions_history where address = '0xlists' order by valid_from`;
    expect(versions.map(({ differs }) => differs)).toEqual([...Array(3).fill(['erc20_transfers']), null]);
  });
});
