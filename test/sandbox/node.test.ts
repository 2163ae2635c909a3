import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { get as getFrom, NOW, rpc as rpcFrom, stillSandbox } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, get, post, rpc } = withSandbox();

const SEC = NOW / 1000;

describe('JSON-RPC of a node', () => {
  it('responds under the path of the node, and for the first node under none', async () => {
    const [first, second] = sandbox().nodes;
    expect((await rpc('/ext/info', 'info.getNodeID')).body.result.nodeID).toBe(first?.identity.nodeId);
    const reply = await rpc('/nodes/validator-2/ext/info', 'info.getNodeID');
    expect(reply.text).toMatch(/^\{"jsonrpc":"2.0","result":\{"nodeID":.*"id":1\}\n$/);
    expect(reply.headers.get('node-id')).toBe(second?.identity.nodeId);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await post('/nodes/nobody/ext/info', {})).status).toBe(404);
  });

  it.each([
    ['info.foo', {}, 'rpc: can\'t find method "info.Foo"'],
    ['nothing.foo', {}, 'rpc: can\'t find service "nothing.Foo"'],
    ['info', {}, 'rpc: service/method request ill-formed: "info"'],
    ['info.GetNodeID', {}, 'method must start with a non-uppercase letter'],
    ['info.peers', { nodeIDs: 'x' }, /^couldn't unmarshal an argument\. Ensure arguments are valid/],
    ['info.isBootstrapped', {}, "argument 'chain' not given"],
  ])('has errors in a 200: %s', async (method, params, message) => {
    const { status, body } = await rpc('/ext/info', method, params);
    expect([status, body.error.code, body.error.data, body.id]).toEqual([200, -32000, null, 1]);
    expect(body.error.message).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message);
  });

  it('validates the envelope', async () => {
    expect((await post('/ext/info', '{"jsonrpc"')).body.error.code).toBe(-32700);
    expect((await post('/ext/info', [])).body.error.code).toBe(-32700);
    expect((await post('/ext/info', { jsonrpc: '1.0', id: 1, method: 'info.peers' })).body.error.code).toBe(
      -32600,
    );
    expect(await post('/ext/info', { jsonrpc: '2.0', method: 'info.getNetworkID' })).toMatchObject({
      status: 200,
      text: '',
    });
    expect(await get('/ext/info')).toMatchObject({
      status: 405,
      text: 'rpc: POST method required, received GET\n',
    });
    expect((await post('/ext/info', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect(await get('/ext/nothing')).toMatchObject({ status: 404, text: '' });
    expect((await rpc('/ext/info', 'info.getNetworkID', [{}])).body.result).toEqual({
      networkID: '1337',
    });
  });

  it('reports its own uptime, which a node that does not validate cannot', async () => {
    const { result } = (await rpc('/ext/info', 'info.uptime')).body;
    expect(result.weightedAveragePercentage).toMatch(/^\d{2,3}\.\d{4}$/);
    const { error } = (await rpc('/nodes/observer-1/ext/info', 'info.uptime')).body;
    expect(error.message).toBe("couldn't get node uptime: node is not a validator");
  });

  it('refuses calls of the chains while it is bootstrapping', async () => {
    const node = sandbox().nodes[1];
    node?.timeline.addRestart(SEC - 20);
    const reply = await rpc('/nodes/validator-2/ext/bc/P', 'platform.getHeight');
    expect(reply).toMatchObject({
      status: 503,
      text: 'API call rejected because chain is not done bootstrapping\n',
    });
    expect(
      (await rpc('/nodes/validator-2/ext/info', 'info.isBootstrapped', { chain: 'P' })).body.result,
    ).toEqual({ isBootstrapped: false });
  });
});

describe('validators', () => {
  const listValidators = async (params: unknown): Promise<Record<string, string>[]> =>
    (await rpc('/ext/bc/P', 'platform.getCurrentValidators', params)).body.result.validators;

  it('have three shapes', async () => {
    const [primary, permissioned, l1, mixed] = sandbox().network.subnets;
    const shape = async (subnetID: string | undefined): Promise<string[]> => [
      ...new Set((await listValidators({ subnetID })).map((one) => Object.keys(one).join(' '))),
    ];
    expect(await shape(primary?.subnetId)).toEqual([
      'txID startTime endTime weight nodeID validationRewardOwner delegationRewardOwner potentialReward accruedDelegateeReward delegationFee uptime connected signer delegatorCount delegatorWeight',
    ]);
    const plain = 'txID startTime endTime weight nodeID';
    const own =
      'validationID nodeID publicKey remainingBalanceOwner deactivationOwner startTime weight minNonce balance';
    expect(await shape(permissioned?.subnetId)).toEqual([plain]);
    expect(await shape(l1?.subnetId)).toEqual([own]);
    expect((await shape(mixed?.subnetId)).sort()).toEqual([plain, own].sort());
  });

  it('list delegators only for a single requested node', async () => {
    const [a, b] = sandbox().watch.nodeIds;
    expect((await listValidators({}))[0]).not.toHaveProperty('delegators');
    expect((await listValidators({ nodeIDs: [a, b] })).map((one) => 'delegators' in one)).toEqual([
      false,
      false,
    ]);
    const [one] = await listValidators({ nodeIDs: [a] });
    expect(String(one?.delegators?.length)).toBe(one?.delegatorCount);
    const nobody = 'NodeID-111111111111111111116DBWJs';
    expect(await listValidators({ nodeIDs: [nobody] })).toEqual([]);
    expect(one?.uptime).toMatch(/^\d{2,3}\.\d{4}$/);
  });

  it('join, leave, change their weights and differ by node', async () => {
    const { clock, sandbox: other } = await stillSandbox();
    const seenWeights = new Set<string>();
    const subnetID = other.network.subnets[2]?.subnetId;
    for (let month = 0; month < 8; month += 1) {
      const { body } = await rpcFrom(other, '/ext/bc/P', 'platform.getCurrentValidators', { subnetID });
      for (const one of body.result.validators) seenWeights.add(`${one.validationID} ${one.weight}`);
      clock.advance(30 * 86_400_000);
    }
    const ids = new Set([...seenWeights].map((text) => text.split(' ')[0]));
    expect(ids.size).toBeGreaterThan(6);
    expect(seenWeights.size).toBeGreaterThan(ids.size);
    const views = await Promise.all(
      ['validator-1', 'validator-2'].map(
        async (name) =>
          (await rpcFrom(other, `/nodes/${name}/ext/bc/P`, 'platform.getCurrentValidators')).text,
      ),
    );
    expect(views[0]).not.toBe(views[1]);
    await other.close();
  });
});

it('have exact integers in the text of staking transactions and of X-chain transactions', async () => {
  const { text } = await get(
    '/v1/networks/sandbox/blockchains/p-chain/transactions:listStaking?txTypes=RegisterL1ValidatorTx&pageSize=100',
  );
  const weights = [...text.matchAll(/"weight":(\d+)/g)].map(([, digits = '']) => digits);
  const members = sandbox().network.subnets[4]?.members ?? [];
  expect(weights.filter((weight) => BigInt(weight) > 2n ** 53n).length).toBeGreaterThan(2);
  expect(weights.some((weight) => String(Number(weight)) !== weight)).toBe(true);
  expect(members.length).toBeGreaterThan(0);
  const amounts: string[] = [];
  for (let height = 1000; height < 1040; height += 1) {
    const block = await rpc('/ext/bc/X', 'avm.getBlockByHeight', {
      height: String(height),
      encoding: 'json',
    });
    amounts.push(...[...block.text.matchAll(/"amount":(\d+)/g)].map(([, digits = '']) => digits));
  }
  expect(amounts.some((amount) => String(Number(amount)) !== amount)).toBe(true);
});

describe('the X- and P-chain', () => {
  it('return pages of UTXOs to the end, at most 1024 at a time', async () => {
    const address = sandbox().watch.addresses[1];
    const found: string[] = [];
    let startIndex: unknown;
    for (let numFetched = '1024'; numFetched === '1024'; ) {
      const params = { addresses: [address], limit: 5000, startIndex };
      const { result } = (await rpc('/ext/bc/X', 'avm.getUTXOs', params)).body;
      found.push(...result.utxos);
      ({ numFetched, endIndex: startIndex } = result);
      expect(result.encoding).toBe('hex');
    }
    const account = sandbox().network.accounts.all[0];
    const truth = account === undefined ? [] : sandbox().network.utxos.of(account, SEC);
    expect(found).toEqual(truth.map((utxo) => utxo.hex));
    expect(found.length).toBeGreaterThan(1024);
    const bytes = Buffer.from((found[0] ?? '').slice(2), 'hex');
    expect(bytes.subarray(-4)).toEqual(
      createHash('sha256').update(bytes.subarray(0, -4)).digest().subarray(28),
    );
    const { result } = (await rpc('/ext/bc/X', 'avm.getBalance', { address, assetID: 'AVAX' })).body;
    const native = truth.filter((utxo) => utxo.asset.symbol === 'AVAX');
    expect(result.balance).toBe(String(native.reduce((sum, utxo) => sum + utxo.amount, 0n)));
  });

  it('repeat a UTXO of two addresses on a later page', async () => {
    const addresses = [sandbox().watch.addresses[1], sandbox().watch.addresses[3]];
    const found: string[] = [];
    let startIndex: unknown;
    for (let numFetched = 1024; numFetched === 1024; ) {
      const { result } = (await rpc('/ext/bc/X', 'avm.getUTXOs', { addresses, startIndex })).body;
      found.push(...result.utxos);
      numFetched = Number(result.numFetched);
      startIndex = result.endIndex;
    }
    expect(new Set(found).size).toBeLessThan(found.length);
  });

  it('separate UTXOs in transit from one chain, as the data service counts them', async () => {
    const { clock, sandbox: other } = await stillSandbox();
    const address = other.watch.addresses[1];
    const utxoCounts = { P: 0, C: 0 };
    for (let day = 0; day < 20; day += 1) {
      const { atomicMemoryUnlocked } = (
        await getFrom(other, `/v1/networks/sandbox/blockchains/x-chain/balances?addresses=${address}`)
      ).body.balances;
      const own = (await rpcFrom(other, '/ext/bc/X', 'avm.getUTXOs', { addresses: [address] })).body.result
        .utxos;
      for (const [sourceChain, alias] of [
        ['P', 'p-chain'],
        ['C', 'c-chain'],
      ] as const) {
        const { result } = (
          await rpcFrom(other, '/ext/bc/X', 'avm.getUTXOs', { addresses: [address], sourceChain })
        ).body;
        const amounts = result.utxos.map((utxo: string) =>
          String(Buffer.from(utxo.slice(2), 'hex').readBigUInt64BE(74)),
        );
        const from = other.network.chain(alias)?.blockchainId;
        const balances = atomicMemoryUnlocked.filter(
          (one: { sharedWithChainId: string }) => one.sharedWithChainId === from,
        );
        expect(amounts).toEqual(balances.map((one: { amount: string }) => one.amount));
        expect(result.utxos.filter((utxo: string) => own.includes(utxo))).toEqual([]);
        utxoCounts[sourceChain] += amounts.length;
      }
      clock.advance(86_400_000);
    }
    expect(utxoCounts.P).toBeGreaterThan(0);
    expect(utxoCounts.C).toBeGreaterThan(0);
    const wrong = await rpcFrom(other, '/ext/bc/X', 'avm.getUTXOs', {
      addresses: [address],
      sourceChain: 'Z',
    });
    expect(wrong.body.error.message).toBe('problem parsing source chainID "Z": there is no ID with alias Z');
    await other.close();
  });

  it('return blocks by height and by id, and their transactions', async () => {
    for (const [path, name] of [
      ['/ext/bc/X', 'avm'],
      ['/ext/bc/P', 'platform'],
    ] as const) {
      const { result } = (await rpc(path, `${name}.getHeight`)).body;
      const { block } = (
        await rpc(path, `${name}.getBlockByHeight`, { height: result.height, encoding: 'json' })
      ).body.result;
      expect(String(block.height)).toBe(result.height);
      expect(block.time).toBeLessThanOrEqual(SEC);
      const same = await rpc(path, `${name}.getBlock`, { blockID: block.id, encoding: 'json' });
      expect(same.body.result.block).toEqual(block);
      const parent = await rpc(path, `${name}.getBlock`, { blockID: block.parentID });
      expect(parent.body.result).toMatchObject({ encoding: 'hex', block: expect.stringMatching(/^0x0000/) });
      const missing = await rpc(path, `${name}.getBlockByHeight`, {
        height: Number(result.height) + 1,
      });
      expect(missing.body.error.message).toMatch(/^couldn't get block at height \d+: not found$/);
    }
    const { block } = (await rpc('/ext/bc/X', 'avm.getBlockByHeight', { height: 1003, encoding: 'json' }))
      .body.result;
    expect(block.txs.length).toBeGreaterThan(0);
    for (const tx of block.txs) {
      expect((await rpc('/ext/bc/X', 'avm.getTx', { txID: tx.id, encoding: 'json' })).body.result.tx).toEqual(
        tx,
      );
      expect((await rpc('/ext/bc/X', 'avm.getTxStatus', { txID: tx.id })).body.result).toEqual({
        status: 'Accepted',
      });
    }
  });

  it('agree with the data service', async () => {
    const address = sandbox().watch.addresses[0];
    const { balances } = (await get(`/v1/networks/sandbox/blockchains/p-chain/balances?addresses=${address}`))
      .body;
    const { result } = (await rpc('/ext/bc/P', 'platform.getBalance', { addresses: [address] })).body;
    expect(result.unlocked).toBe(balances.unlockedUnstaked[0].amount);
    const list = (
      await get(
        `/v1/networks/sandbox/blockchains/p-chain/nodes/${sandbox().watch.nodeIds[0]}/blocks?pageSize=1`,
      )
    ).body;
    const { block } = (
      await rpc('/ext/bc/P', 'platform.getBlock', {
        blockID: list.blocks[0].blockHash,
        encoding: 'json',
      })
    ).body.result;
    expect([String(block.height), block.parentID]).toEqual([
      list.blocks[0].blockNumber,
      list.blocks[0].parentHash,
    ]);
    expect((await rpc('/ext/bc/P', 'platform.getBalance', { addresses: [] })).body.result.utxoIDs).toBeNull();
  });
});
