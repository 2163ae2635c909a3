import { expect } from 'vitest';
import { subnets } from '../../../src/datasets/chain-data/subnets.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { UpstreamFailure } from '../../../src/upstreams/failure.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import {
  onlyPage,
  pagesOf,
  pagesWith,
  recordingContext,
  run,
  scriptedFeed,
} from '../../support/scripted-feed.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.UTC(2026, 0, 10);
const { it, sql } = withDatabase();
const AT_ONCE = { confirmShrink: { observations: 1, minDuration: 0 } };
const moment = (at: number) => new Date(start + at);

it('validator_movements has one row per day and validator whose weight or delegated stake changed', async () => {
  const clock = new ManualClock(start);
  const feed = scriptedFeed(
    validators,
    { node: 'n', subnetId: '11111111111111111111111111111111LpoYY' },
    AT_ONCE,
  );
  const poll = async (at: number, members: Readonly<Record<string, readonly [number, number]>>) => {
    clock.now = start + at;
    const listed = Object.entries(members).map(([nodeID, [weight, delegatorWeight]]) => ({
      ...{ nodeID, startTime: 1, weight, delegatorWeight, potentialReward: at },
    }));
    feed.script = () => onlyPage({ validators: listed });
    await run(recordingContext(sql, clock.read), feed);
  };
  await poll(0, { a: [5, 0], b: [7, 0] });
  await poll(DAY, { a: [5, 2], b: [7, 1] });
  await poll(DAY + HOUR, { a: [5, 3], b: [7, 0] });
  await poll(2 * DAY, { a: [5, 3], c: [1, 1] });
  await poll(2 * DAY + HOUR, { a: [6, 4], c: [1, 2] });
  await poll(3 * DAY, { a: [6, 4], b: [9, 0], c: [1, 2] });
  const movements = async (asOf: number) =>
    (
      await sql`
        select at, change, node_id, weight::int, delegated::int, weight_before::int, delegated_before::int
        from reporting.validator_movements(${moment(HOUR)}, ${moment(9 * DAY)}, as_of => ${moment(asOf)})`
    ).map((row) => Object.values(row));
  const first = [moment(DAY + HOUR), 'changed', 'a', 5, 3, 5, 0];
  expect(await movements(9 * DAY)).toEqual([
    first,
    [moment(2 * DAY), 'joined', 'c', 1, 1, null, null],
    [moment(2 * DAY), 'left', 'b', 7, 0, null, null],
    [moment(2 * DAY + HOUR), 'changed', 'a', 6, 4, 5, 3],
    [moment(2 * DAY + HOUR), 'changed', 'c', 1, 2, 1, 1],
    [moment(3 * DAY), 'joined', 'b', 9, 0, null, null],
  ]);
  expect(await movements(DAY)).toEqual([
    [moment(DAY), 'changed', 'a', 5, 2, 5, 0],
    [moment(DAY), 'changed', 'b', 7, 1, 7, 0],
  ]);
});

it('l1_changes reports no subnet as new that the first successful run listed, if an earlier run failed', async () => {
  const clock = new ManualClock(start);
  const feed = scriptedFeed(subnets, { network: 'testnet' }, AT_ONCE);
  const body = (...listed: readonly string[]) => ({
    subnets: listed.map((subnetId) => ({ subnetId, isL1: true, blockchains: [] })),
  });
  feed.script = async function* () {
    yield* pagesOf([{ body: body('a'), proven: null, last: false, whole: true }]);
    throw new UpstreamFailure('server', 'the service restarts');
  };
  await run(recordingContext(sql, clock.read), feed);
  clock.now += HOUR;
  feed.script = () => pagesWith([body('a'), body('b')]);
  await run(recordingContext(sql, clock.read), feed);
  clock.now += HOUR;
  feed.script = () => pagesWith([body('a'), body('b', 'c')]);
  await run(recordingContext(sql, clock.read), feed);
  const changes = await sql`
    select change, subnet_id from reporting.l1_changes(${moment(0)}, ${moment(9 * DAY)}, ${moment(3 * DAY)}) order by change`;
  expect(changes).toEqual([
    { change: 'appeared', subnet_id: 'c' },
    { change: 'converted', subnet_id: 'c' },
  ]);
  await sql`truncate recorder.subnets`;
});

it('l1_changes has the transaction of each change, and its block time if the transaction is recorded', async () => {
  const clock = new ManualClock(start);
  const feed = scriptedFeed(subnets, { network: 'mainnet' }, AT_ONCE);
  const poll = async (at: number, listed: readonly object[]) => {
    clock.now = start + at;
    feed.script = () => onlyPage({ subnets: listed.map((subnet) => ({ blockchains: [], ...subnet })) });
    await run(recordingContext(sql, clock.read), feed);
  };
  const ownedBy = (...addresses: string[]) => ({ subnetOwnershipInfo: { threshold: 1, addresses } });
  const converted = { isL1: true, l1ConversionTransactionHash: 'conversion' };
  await poll(0, [{ subnetId: 'a', ...ownedBy('x') }]);
  await poll(DAY, [
    { subnetId: 'a', ...converted, ...ownedBy('x') },
    { subnetId: 'b', ...ownedBy('x'), createBlockTimestamp: start / 1000 },
  ]);
  await poll(2 * DAY, [
    { subnetId: 'a', ...converted, ...ownedBy('y') },
    { subnetId: 'b', ...ownedBy('z') },
  ]);
  const transfer = { tx_type: 'TransferSubnetOwnershipTx', subnet_ownership_info_threshold: '1' };
  const rows = [
    { tx_hash: 'conversion', tx_type: 'ConvertSubnetToL1Tx', at: DAY - HOUR, subnet_id: 'a', owners: [] },
    // Before the observation of the earlier owner: an earlier transfer.
    { ...transfer, tx_hash: 'earlier', at: HOUR, subnet_id: 'a', owners: ['y'] },
    { ...transfer, tx_hash: 'transfer', at: 2 * DAY - HOUR, subnet_id: 'a', owners: ['y'] },
    { ...transfer, tx_hash: 'later', at: 2 * DAY + HOUR, subnet_id: 'a', owners: ['y'] },
    { ...transfer, tx_hash: 'to another', at: 2 * DAY - HOUR, subnet_id: 'b', owners: ['y'] },
  ];
  for (const { at, owners, ...row } of rows)
    await sql`
      insert into recorder.staking_transactions ${sql({
        ...{ network: 'mainnet', run_id: 1, valid_from: moment(2 * DAY + HOUR), block_timestamp: moment(at) },
        ...{ ...row, subnet_ownership_info_addresses: sql.json(owners) },
      })}`;
  const changes = (asOf: number) => sql`
    select subnet_id, change, tx_hash, on_chain_at
    from reporting.l1_changes(${moment(0)}, ${moment(9 * DAY)}, as_of => ${moment(asOf)})`;
  const conversion = { subnet_id: 'a', change: 'converted', tx_hash: 'conversion' };
  const creation = { subnet_id: 'b', change: 'appeared', tx_hash: 'b', on_chain_at: moment(0) };
  expect(await changes(9 * DAY)).toEqual([
    { ...conversion, on_chain_at: moment(DAY - HOUR) },
    creation,
    { subnet_id: 'a', change: 'owners changed', tx_hash: 'transfer', on_chain_at: moment(2 * DAY - HOUR) },
    { subnet_id: 'b', change: 'owners changed', tx_hash: null, on_chain_at: null },
  ]);
  expect(await changes(DAY)).toEqual([{ ...conversion, on_chain_at: null }, creation]);
});
