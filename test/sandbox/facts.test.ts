import { describe, expect, it } from 'vitest';
import { FACTS, type Fact } from '../../sandbox/facts.ts';
import { NOW, stillSandbox } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, clock, get, post, rpc } = withSandbox({}, 'each');

const SEC = NOW / 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const on = (fact: Fact, node?: string): void => sandbox().facts.on(fact, SEC, node);
const result = async (path: string, method: string, params?: unknown) =>
  (await rpc(path, method, params)).body.result;
const networkCheck = async () => (await get('/ext/health')).body.checks.network;

/** Lets the network check of the first node fail since an hour. */
function fail(): void {
  sandbox().nodes[0]?.timeline.addIncident({
    from: SEC - 3600,
    to: SEC + 3600,
    check: 'network',
    error: 'not healthy',
  });
}

it('lists facts, switches them on and off, and refuses an unknown name', async () => {
  const list = async () => (await get('/_sandbox/facts')).body.facts;
  expect((await list()).map((one: { fact: string }) => one.fact)).toEqual(Object.keys(FACTS));
  await post('/_sandbox/facts', { fact: 'balance-2021', node: 'validator-1' });
  expect((await list()).filter((one: { since?: number }) => one.since !== undefined)).toEqual([
    { fact: 'balance-2021', what: FACTS['balance-2021'], since: SEC, node: 'validator-1' },
  ]);
  expect(sandbox().facts.has('balance-2021', SEC, 'validator-2')).toBe(false);
  await post('/_sandbox/facts', { fact: 'balance-2021', on: false });
  expect((await list()).some((one: { since?: number }) => one.since !== undefined)).toBe(false);
  expect((await post('/_sandbox/facts', { fact: 'flying-pigs' })).status).toBe(400);
  const { sandbox: other } = await stillSandbox({ facts: ['balance-2021'] });
  expect(other.facts.has('balance-2021', SEC, 'validator-2')).toBe(true);
  await other.close();
});

it('records the primary network and its chains in block -1 of the genesis', async () => {
  const { body } = await get('/v1/networks/sandbox/subnets');
  const primary = body.subnets.at(-1);
  expect([primary.subnetId, primary.createBlockIndex]).toEqual([
    '11111111111111111111111111111111LpoYY',
    '-1',
  ]);
  expect(primary.blockchains).toMatchObject([
    { blockchainName: 'P-Chain', createBlockNumber: '-1' },
    { blockchainName: 'X-Chain', createBlockNumber: '-1' },
    { blockchainName: 'C-Chain', createBlockNumber: '-1', evmChainId: 43114 },
  ]);
});

describe('health of other releases', () => {
  it('has errors that change at every poll, since a fixed start', async () => {
    fail();
    on('health-moving-errors');
    const first = await networkCheck();
    clock().advance(30_000);
    const second = await networkCheck();
    expect(first.error).toMatch(
      /^not healthy: block processing time 60m0\.\ds > 2m0s, connected to [\d.]+% /,
    );
    expect(second.error).not.toBe(first.error);
    expect(Date.parse(first.timeOfFirstFailure) / 1000).toBeCloseTo(SEC - 3600, -1);
    expect([second.timeOfFirstFailure, second.contiguousFailures]).toEqual([
      first.timeOfFirstFailure,
      first.contiguousFailures + 1,
    ]);
  });

  it('has errors as objects, the report as plain text, and a real time for checks that have not run', async () => {
    fail();
    on('health-error-object');
    on('health-text-plain');
    on('health-did-not-run');
    expect((await networkCheck()).error).toEqual({ message: 'not healthy' });
    expect((await get('/ext/health')).headers.get('content-type')).toMatch(/^text\/plain/);
    sandbox().nodes[0]?.timeline.addRestart(SEC - 5);
    const { error, timestamp } = await networkCheck();
    expect([error, Date.parse(timestamp) > NOW - MINUTE]).toEqual(["didn't run yet", true]);
    sandbox().facts.off('health-did-not-run');
    expect(await networkCheck()).toMatchObject({ error: 'not yet run', timestamp: '0001-01-01T00:00:00Z' });
  });
});

describe('nodes of other releases', () => {
  it('report for each peer its uptimes by subnet, and for inbound ones an ephemeral port', async () => {
    on('peers-subnet-uptimes');
    on('peers-ephemeral-ports');
    const ports = async () => {
      const { peers } = await result('/ext/info', 'info.peers');
      expect(peers.length).toBeGreaterThan(0);
      for (const peer of peers) expect(Object.keys(peer.observedSubnetUptimes)).toEqual(peer.trackedSubnets);
      return new Map<string, string>(
        peers.map((peer: { nodeID: string; ip: string }) => [peer.nodeID, peer.ip]),
      );
    };
    const before = await ports();
    clock().advance(HOUR);
    const after = await ports();
    const moved = [...before].filter(([node, ip]) => after.has(node) && after.get(node) !== ip);
    expect(moved.length).toBeGreaterThan(5);
    expect([...after.values()].filter((ip) => ip.endsWith(':9651')).length).toBeGreaterThan(5);
  });

  it('return balances without maps', async () => {
    on('balance-2021', 'validator-1');
    const readNode = (node: string) =>
      result(`/nodes/${node}/ext/bc/P`, 'platform.getBalance', { addresses: [sandbox().watch.addresses[0]] });
    expect(await readNode('validator-1')).toEqual({
      balance: expect.any(String),
      unlocked: expect.any(String),
      lockedStakeable: expect.any(String),
      lockedNotStakeable: '0',
      utxoIDs: expect.any(Array),
    });
    expect(await readNode('validator-2')).toHaveProperty('balances');
  });

  it('list few members at first, with 200', async () => {
    const counts = async () => [
      (await result('/ext/bc/P', 'platform.getCurrentValidators')).validators.length,
      (await result('/ext/info', 'info.peers')).peers.length,
    ];
    const all = await counts();
    on('node-few-members', 'validator-1');
    sandbox().nodes[0]?.timeline.addRestart(SEC);
    expect(await counts()).toEqual([0, 0]);
    clock().advance(5 * MINUTE);
    expect(await counts()).toEqual([3, 3]);
    clock().advance(5 * MINUTE);
    expect((await counts())[0]).toBe(all[0]);
  });
});

describe('observed members and values', () => {
  it('leave and return within a day, with a new start', async () => {
    const list = async (): Promise<Map<string, { txID: string; startTime: string }>> => {
      const { validators } = await result('/ext/bc/P', 'platform.getCurrentValidators');
      return new Map(validators.map((one: { nodeID: string }) => [one.nodeID, one]));
    };
    const before = await list();
    on('validators-return');
    clock().advance(4 * HOUR);
    const departed = [...before.keys()].filter(
      (node) =>
        !sandbox()
          .network.validators.current(SEC + 4 * 3600)
          .some((stake) => stake.node.nodeId === node),
    );
    expect(departed.length).toBeGreaterThan(2);
    clock().advance(21 * HOUR);
    const after = await list();
    for (const node of departed) {
      expect(Number(after.get(node)?.startTime)).toBeGreaterThan(SEC + 3600);
      expect(after.get(node)?.txID).not.toBe(before.get(node)?.txID);
    }
  });

  it('contain values that no column may hold', async () => {
    const subnets = async () => (await get('/v1/networks/sandbox/subnets')).text;
    expect(await subnets()).not.toContain('"encoding"');
    on('genesis-data-encoded');
    on('locktime-forever');
    expect(await subnets()).toMatch(/"genesisData":\{"encoding":"base64","data":"/);
    expect(await subnets()).toContain('"locktime":18446744073709551615,');
    on('names-with-nul');
    const description = await rpc('/ext/bc/X', 'avm.getAssetDescription', { assetID: 'AVAX' });
    expect(description.text).toContain('"symbol":"AVAX\\u0000\\ud83d"');
    on('balances-other-members');
    const balances = `/v1/networks/sandbox/blockchains/x-chain/balances?addresses=${sandbox().watch.addresses[0]}`;
    expect((await get(balances)).body.balances).toMatchObject({ utxoCount: 700, isStale: false });
    on('staking-new-types');
    const staking = '/v1/networks/sandbox/blockchains/p-chain/transactions:listStaking?txTypes=';
    const { body } = await get(`${staking}AddAutoRenewedValidatorTx`);
    expect(body.transactions.length).toBeGreaterThan(0);
  });

  it('spell the same token in two ways', async () => {
    const { chain, address } = sandbox().watch.collections[1] ?? {};
    const ids = async (): Promise<string[]> => {
      const { body } = await get(`/v1/chains/${chain}/nfts/collections/${address}/tokens?pageSize=100`);
      return body.tokens.map((token: { tokenId: string }) => token.tokenId);
    };
    on('token-ids-padded');
    const first = await ids();
    clock().advance(HOUR);
    const second = await ids();
    expect(second).not.toEqual(first);
    expect(second.map((id) => BigInt(id))).toEqual(first.map((id) => BigInt(id)));
    const padded = [...first, ...second].find((id) => id.startsWith('0'));
    expect((await get(`/v1/chains/${chain}/nfts/collections/${address}/tokens/${padded}`)).status).toBe(200);
  });
});
