import { expect } from 'vitest';
import { blockchains } from '../../src/datasets/chain-data/blockchains.ts';
import { nftTokens } from '../../src/datasets/chain-data/nft-tokens.ts';
import { pendingRewards } from '../../src/datasets/chain-data/pending-rewards.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import type { SourcePage, Target } from '../../src/datasets/contract.ts';
import { PRIMARY_NETWORK } from '../../src/datasets/node/current-validators.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { claimRun } from '../../src/recording/claim-run.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { withDatabase } from '../support/fixture.ts';
import { gate, onlyPage, recordingContext } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const never = new AbortController().signal;

function createFeed(target: Target, walk: () => AsyncIterable<SourcePage>) {
  const source = { ...nftTokens.source, walk };
  return withDefaultSettings({ source, datasets: [{ ...nftTokens, source }] }, [target]);
}
const token = (tokenId: string, ownerAddress: string) => ({
  ...nftTokens.example,
  address: null,
  tokenId,
  ownerAddress,
});
const job = (target: Target) => ({ target, window: null, reason: 'manual' as const });

it('never writes one token by hand and its list in two runs at once', async () => {
  const list = { chainId: '1', collection: '0xc' };
  const single = { ...list, tokenId: '1' };
  const [requested, response] = [gate(), gate()];
  const listFeed = createFeed(list, async function* () {
    requested.open();
    await response.opened;
    yield* onlyPage({ tokens: [token('1', 'a'), token('2', 'a')] });
  });
  const tokenFeed = createFeed(single, () => onlyPage({ tokens: [token('1', 'b')] }, { whole: false }));
  const context = recordingContext(sql, () => Date.now());
  const listRun = record(context, listFeed, job(list), never);
  await requested.opened;
  expect(await record(context, tokenFeed, job(single), never)).toBe('held');
  response.open();
  expect(await listRun).toMatchObject({ status: 'done', rowsWritten: [2] });
  const selectTargetState = () => sql`
    select target_key, last_success_at, last_complete_at, failures from recorder.target_datasets
    where target_key = ${targetKey(list)}`;
  const before = await selectTargetState();
  expect(await record(context, tokenFeed, job(single), never)).toMatchObject({
    status: 'partial',
    rowsWritten: [1],
  });
  expect(await selectTargetState(), 'one token says nothing of the list').toEqual(before);
  const rows = await sql`select token_id::text, owner_address from reporting.nft_tokens order by token_id`;
  expect([...rows]).toEqual([
    { token_id: '1', owner_address: 'b' },
    { token_id: '2', owner_address: 'a' },
  ]);
});

it('records a killed run with the lease of the list as lost, whichever run takes it over', async () => {
  const list = { chainId: '1', collection: '0xd' };
  const single = { ...list, tokenId: '1' };
  const tokenFeed = createFeed(single, () => onlyPage({ tokens: [token('1', 'b')] }));
  const listFeed = createFeed(list, () => onlyPage({ tokens: [token('1', 'b')] }));
  const at = new Date().toISOString();
  const lostRunId = await claimRun(sql, tokenFeed, job(single), 'died', at);
  expect(await claimRun(sql, listFeed, job(list), 'next', at)).toBe('held');
  await sql`update recorder.targets set lease_until = now() - interval '1 second' where target_key = ${targetKey(list)}`;
  expect(await claimRun(sql, listFeed, job(list), 'next', at)).toBeTypeOf('number');
  const [row] = await sql`select status, target from reporting.runs where run_id = ${lostRunId}`;
  expect(row).toEqual({ status: 'lost', target: targetKey(single) });
});

it('keeps members apart that have one id in two networks', async () => {
  let now = Date.UTC(2026, 0, 10);
  const context = recordingContext(sql, () => now);
  for (let round = 0; round < 2; round++)
    for (const network of ['fuji', 'mainnet']) {
      const chain = { blockchainId: PRIMARY_NETWORK, blockchainName: `P-chain of ${network}` };
      const walk = () =>
        onlyPage({ subnets: [{ subnetId: PRIMARY_NETWORK, threshold: 0, blockchains: [chain] }] });
      const feed = { source: { ...subnets.source, walk }, datasets: [subnets, blockchains] };
      now += 60_000;
      await record(context, withDefaultSettings(feed, [{ network }]), job({ network }), never);
    }
  const rows = await sql`
    select s.network, s.valid_to, b.blockchain_name as name, b.valid_to as chain_valid_to
    from recorder.subnets s join recorder.blockchains b using (network) order by 1`;
  expect([...rows]).toEqual(
    ['fuji', 'mainnet'].map((network) => ({
      network,
      valid_to: null,
      name: `P-chain of ${network}`,
      chain_valid_to: null,
    })),
  );
});

it('a list of some addresses retires no member of the list of others', async () => {
  const listedHashes = new Map<string, string[]>();
  const recorders = ['one', 'two'].map((recorder) => {
    const target = { network: 'shared', addresses: `P-${recorder}`, nodeIds: '' };
    const walk = () =>
      onlyPage({
        pendingRewards: listedHashes.get(recorder)?.map((txHash) => ({ txHash, rewardType: 'DELEGATOR' })),
      });
    const source = { ...pendingRewards.source, walk };
    const feed = withDefaultSettings({ source, datasets: [{ ...pendingRewards, source }] }, [target]);
    const register = (targets: readonly Target[]) =>
      registerTargets(sql, { ...feed, targets }, Date.now(), { recorder, digest: null });
    return { target, feed, register };
  });
  const [one, two] = recorders;
  if (!one || !two) throw new Error('there are two recorders');
  const poll = async ({ feed, target }: typeof one) => {
    const result = await record(
      recordingContext(sql, () => Date.now()),
      feed,
      { ...job(target), reason: 'poll' },
      never,
    );
    return typeof result === 'string' ? result : result.status;
  };
  const selectListed = async () => {
    const rows = await sql<{ tx_hash: string }[]>`
      select tx_hash from recorder.pending_rewards where network = 'shared' and valid_to is null order by 1`;
    return rows.map(({ tx_hash }) => tx_hash);
  };
  await one.register([one.target]);
  listedHashes.set('one', ['a', 'b', 'c']).set('two', ['x', 'y', 'z']);
  expect(await poll(one)).toBe('done');
  // By hand with another configuration, and then by another recorder.
  for (let times = 0; times < 2; times++) {
    expect(await poll(two)).toBe('partial');
    expect(await selectListed()).toEqual(['a', 'b', 'c', 'x', 'y', 'z']);
    await two.register([two.target]);
  }
  listedHashes.set('one', ['a', 'b']);
  expect(await poll(one)).toBe('partial');
  const reasons = await sql`
    select reason from reporting.freshness where target like 'addresses=P-one%' and dataset = 'pending_rewards'`;
  expect([...reasons]).toEqual([
    { reason: 'addresses=P-two network=shared nodeIds= records the same list: nothing is retired' },
  ]);
  await two.register([]);
  await poll(one);
  expect(await poll(one)).toBe('done');
  expect(await selectListed()).toEqual(['a', 'b']);
  const ends = await sql`
    select tx_hash, ended_by from recorder.pending_rewards where network = 'shared' and valid_to is not null order by 1`;
  expect(ends.map(({ tx_hash, ended_by }) => [tx_hash, ended_by])).toEqual([
    ['c', 'gone'],
    ...['x', 'y', 'z'].map((hash) => [hash, 'unwatched']),
  ]);
});

it('ends the members of a removed address as unwatched, and later members as gone', async () => {
  const poll = async (addresses: string, hashes: readonly string[]) => {
    const target = { network: 'reduced', addresses, nodeIds: '' };
    const walk = () =>
      onlyPage({ pendingRewards: hashes.map((txHash) => ({ txHash, rewardType: 'DELEGATOR' })) });
    const source = { ...pendingRewards.source, walk };
    const feed = withDefaultSettings({ source, datasets: [{ ...pendingRewards, source }] }, [target]);
    await registerTargets(sql, feed, Date.now(), { recorder: 'reduced', digest: null });
    await record(
      recordingContext(sql, () => Date.now()),
      feed,
      { ...job(target), reason: 'poll' },
      never,
    );
  };
  await poll('P-a,P-b', ['a', 'b', 'c', 'd', 'e']);
  await poll('P-b', ['b', 'c', 'd', 'e']);
  await poll('P-b', ['b', 'c', 'd']);
  // Most members are missing, so that a second walk must confirm their absence.
  await poll('P-d', ['d']);
  await poll('P-d', ['d']);
  const ends = await sql`
    select tx_hash, ended_by from recorder.pending_rewards where network = 'reduced' order by tx_hash`;
  expect(ends.map(({ tx_hash, ended_by }) => [tx_hash, ended_by])).toEqual([
    ['a', 'unwatched'],
    ['b', 'unwatched'],
    ['c', 'unwatched'],
    ['d', null],
    ['e', 'gone'],
  ]);
  const changes = await sql`
    select key ->> 'tx_hash' as tx_hash, change from reporting_internal.change_rows
    where dataset = 'pending_rewards' and key ->> 'network' = 'reduced' and change <> 'appeared' order by 1`;
  expect(changes.map(({ tx_hash, change }) => [tx_hash, change])).toEqual([
    ['a', 'unwatched'],
    ['b', 'unwatched'],
    ['c', 'unwatched'],
    ['e', 'left'],
  ]);
});
