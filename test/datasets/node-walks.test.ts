import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import { transactionJson } from '../../sandbox/node/transactions.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import {
  type Dataset,
  OPEN_END,
  type SourcePage,
  type Target,
  type UpstreamClient,
} from '../../src/datasets/contract.ts';
import { pBlockchains } from '../../src/datasets/node/p-blockchains.ts';
import { pBlocks } from '../../src/datasets/node/p-blocks.ts';
import { xBalances } from '../../src/datasets/node/x-balances.ts';
import { xBlocks } from '../../src/datasets/node/x-blocks.ts';
import { xTransactions } from '../../src/datasets/node/x-transactions.ts';
import { xUtxos } from '../../src/datasets/node/x-utxos.ts';
import { getMember } from '../../src/datasets/sources/answer.ts';
import { readHealth } from '../../src/health/health-reading.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { unmetered } from '../../src/upstreams/budget.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { jsonText } from '../../src/upstreams/json.ts';
import { UpstreamSession } from '../../src/upstreams/upstream-session.ts';
import { stillSandbox } from '../sandbox/client.ts';
import { upstreamServer } from '../support/upstream-server.ts';

const BEGIN = { from: OPEN_END - 1, to: OPEN_END };

let sandbox: Sandbox;
let clock: ManualClock;
beforeAll(async () => {
  ({ sandbox, clock } = await stillSandbox());
});
afterAll(() => sandbox.close());

/** An upstream as a run uses it. */
function session(url: string, pageSize?: number): UpstreamSession {
  return new UpstreamSession(
    {
      name: 'node',
      url,
      headers: {},
      redact: (text) => text,
      budget: unmetered,
      deadline: 5000,
      maxBytes: 1e8,
    },
    {
      weight: 0,
      priority: 'poll',
      signal: new AbortController().signal,
      clock: () => clock.now(),
      pageSize,
    },
  );
}

const node = (pageSize?: number) => session(`${sandbox.url}/nodes/validator-1`, pageSize);

const unsupported = (method: string) =>
  new UpstreamFailure('unsupported', `the node does not offer ${method}: not available`);

/** A node that refuses some methods. */
function without(client: UpstreamSession, ...methods: string[]): UpstreamClient {
  return {
    get: client.get.bind(client),
    post: client.post.bind(client),
    probe: client.probe.bind(client),
    pageSize: client.pageSize.bind(client),
    rpc: async (path, method, params) => {
      if (methods.includes(method)) throw unsupported(method);
      return client.rpc(path, method, params);
    },
    now: 0,
  };
}

async function walkSource(
  { source }: Pick<Dataset, 'source'>,
  client: UpstreamClient,
  target: Target,
  window: SourcePage['proven'] = null,
): Promise<SourcePage[]> {
  const pages: SourcePage[] = [];
  for await (const page of source.walk(client, target, window)) pages.push(page);
  return pages;
}

/** Returns the rows of pages, as objects by column. */
function rowsOf(dataset: Dataset, pages: readonly SourcePage[], target: Target) {
  const { page: decode } = buildDecoder(dataset);
  const names = dataset.columns.filter(({ path }) => path.length > 0).map(({ name }) => name);
  return pages.flatMap(({ body }) => {
    const { rows, refused } = decode(body, target);
    expect(refused).toEqual([]);
    return rows.map(({ row }) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
  });
}

describe('polls of blocks', () => {
  const target = { node: 'validator-1' };
  const head = () => sandbox.network.blocks(chain('p-chain')).heightAt(Math.floor(clock.now() / 1000));
  const chain = (alias: string) => {
    const found = sandbox.network.chain(alias);
    if (!found) throw new Error(`no ${alias}`);
    return found;
  };

  it('start a hundred below the head and prove what the responses contain', async () => {
    const pages = await walkSource(pBlocks, node(), target, BEGIN);
    const last = head();
    expect(pages.map(({ proven, last: end }) => [proven, end])).toEqual([
      [{ from: last - 100, to: last - 50 }, false],
      [{ from: last - 100, to: last }, false],
      [{ from: last - 100, to: last + 1 }, true],
    ]);
    expect(rowsOf(pBlocks, pages, target).map(({ height }) => height)).toEqual(
      Array.from({ length: 101 }, (_, at) => String(last - 100 + at)),
    );
  });

  it('find the head also if the node does not report its height', async () => {
    const client = without(node(), 'platform.getHeight');
    for (const window of [BEGIN, { from: head() - 7, to: OPEN_END }, { from: head() + 1, to: OPEN_END }])
      expect((await walkSource(pBlocks, client, target, window)).at(-1)?.proven).toEqual(
        (await walkSource(pBlocks, node(), target, window)).at(-1)?.proven,
      );
  });

  it('fill holes exactly, stop after 500 blocks, and skip a node that is behind', async () => {
    const client = node();
    const hole = { from: head() - 70, to: head() - 12 };
    expect((await walkSource(pBlocks, client, target, hole)).at(-1)).toMatchObject({
      proven: hole,
      last: true,
    });
    const from = head() - 900;
    const long = await walkSource(pBlocks, client, target, { from, to: OPEN_END });
    expect(long).toHaveLength(10);
    expect(long.at(-1)).toMatchObject({ proven: { from, to: from + 500 }, last: false });
    expect(long.at(-1)?.note).toBe('401 blocks are left for the next runs');
    const ahead = { from: head() + 500, to: OPEN_END };
    expect(await walkSource(pBlocks, client, target, ahead)).toMatchObject([{ proven: null, last: true }]);
  });

  it('record the transactions of the X-chain, with amounts past 2^53 exactly', async () => {
    const x = chain('x-chain');
    const pages = await walkSource(xBlocks, node(), target, BEGIN);
    const rows = rowsOf(xTransactions, pages, target);
    const expected = rowsOf(xBlocks, pages, target).flatMap(({ height }) =>
      sandbox.network
        .blocks(x)
        .transactionNumbers(Number(height))
        .map((number) => {
          const tx = transactionJson(sandbox.network, x, number);
          return [tx.id, height, getMember(tx.unsignedTx, 'outputs')];
        }),
    );
    const big = (_: string, value: unknown) => (typeof value === 'bigint' ? `#${value}#` : value);
    expect(rows.map((row) => [row.tx_id, row.block_height, row.unsigned_tx_outputs])).toEqual(
      expected.map(([id, height, outputs]) => [
        id,
        height,
        JSON.stringify(outputs, big).replaceAll(/"#(\d+)#"/g, '$1'),
      ]),
    );
    expect(rows.some((row) => /[1-9]\d{15}/.test(row.unsigned_tx_outputs ?? ''))).toBe(true);
  });

  it('are refused if a node returns another height', async () => {
    const client = without(node());
    const lying: UpstreamClient = {
      ...client,
      rpc: (path, method, params) =>
        client.rpc(path, method, params && 'height' in params ? { ...params, height: 5 } : params),
    };
    await expect(walkSource(pBlocks, lying, target, BEGIN)).rejects.toThrow(
      /block \d+ was requested, .* block 5$/,
    );
  });

  it('fetch a block or transaction by its id on demand; an undecided one is only reported', async () => {
    const blocks = sandbox.network.blocks(chain('x-chain'));
    const [block] = rowsOf(
      xBlocks,
      await walkSource(xBlocks, node(), { ...target, blockId: blocks.hash(77) }, BEGIN),
      target,
    );
    expect(block).toMatchObject({ height: '77', id: blocks.hash(77) });
    const txId = blocks.transactionId(blocks.transactionNumbers(80)[0] ?? 0);
    const txTarget = { ...target, txId };
    const accepted = await walkSource(xTransactions, node(), txTarget, BEGIN);
    expect(rowsOf(xTransactions, accepted, txTarget)).toMatchObject([{ tx_id: txId, status: 'Accepted' }]);
    for (const status of ['Processing', 'Rejected']) {
      const client: UpstreamClient = { ...without(node()), rpc: async () => ({ status }) };
      const [page] = await walkSource(xTransactions, client, txTarget, BEGIN);
      const rows = page ? rowsOf(xTransactions, [page], txTarget) : [];
      if (status === 'Processing') expect([rows, page?.note]).toEqual([[], 'status Processing']);
      else expect(rows).toMatchObject([{ tx_id: txId, status, unsigned_tx_outputs: null }]);
    }
  });

  it.each([
    [{ node: 'nobody', height: '1' }, /node=nobody: must be a configured node/],
    [{ node: 'a', height: '1', blockId: 'b' }, /exactly one of blockId, height/],
    [{ node: 'a', height: 'high' }, /must be a height/],
    [{ node: 'a', txId: 'b' }, /exactly one of blockId, height/],
  ])('refuse the target %j', (pairs, problem) => {
    const scope = {
      network: 'mainnet',
      observer: 'o',
      shares: 1,
      nodes: ['a'],
      tags: {},
      options: {},
      watch: { ...sandbox.watch, subnets: [] },
    };
    expect(() => pBlocks.source.demand?.(pairs, scope)).toThrow(problem);
  });
});

describe('UTXOs', () => {
  it('are the same for any page size, decoded from their bytes', async () => {
    const address = sandbox.watch.addresses.find((one) => one.startsWith('X-')) ?? '';
    const account = sandbox.network.accounts.among([address])[0];
    const truth = account ? sandbox.network.utxos.of(account, Math.floor(clock.now() / 1000)) : [];
    for (const size of [1024, 7]) {
      const target = { node: 'validator-1', address };
      const pages = await walkSource(xUtxos, node(size), target);
      expect(pages.filter(({ last }) => last)).toEqual([pages.at(-1)]);
      const rows = new Map(rowsOf(xUtxos, pages, target).map((row) => [row.utxo_id, row]));
      expect(
        [...rows.values()].map((row) => [
          row.utxo_id,
          row.tx_id,
          row.output_index,
          row.asset_id,
          row.amount,
          row.addresses,
        ]),
      ).toEqual(
        truth.map((utxo) => [
          utxo.id,
          utxo.txId,
          String(utxo.outputIndex),
          utxo.asset.assetId,
          String(utxo.amount),
          jsonText(utxo.owners.map((owner) => `X-${owner.address}`)),
        ]),
      );
    }
  });

  it('with invalid bytes of an output are refused alone', () => {
    const { rows, refused } = buildDecoder(xUtxos).page(
      { utxos: ['0x00', 'hex', 7, xUtxos.example.utxo] },
      { address: 'X-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5' },
    );
    expect([rows.length, refused.length]).toEqual([1, 3]);
  });
});

describe('methods that a node refuses', () => {
  const target = { node: 'validator-1', address: '', assets: '' };

  it('do not affect others: balances of watched assets are recorded, without proof of absence', async () => {
    const [address = ''] = sandbox.watch.addresses.filter((one) => one.startsWith('X-'));
    const addressTarget = { ...target, address, assets: sandbox.watch.assets.join(',') };
    const whole = await walkSource(xBalances, node(), addressTarget);
    const [part] = await walkSource(xBalances, without(node(), 'avm.getAllBalances'), addressTarget);
    expect(whole).toMatchObject([{ whole: true }]);
    expect(part).toMatchObject({ whole: false, note: 'unsupported: avm.getAllBalances' });
    const sum = (rows: { asset_id?: string | null; balance?: string | null }[]) =>
      rows.map((row) => [row.asset_id, row.balance]).sort();
    expect(sum(rowsOf(xBalances, part ? [part] : [], addressTarget)).map(([asset]) => asset)).toEqual(
      [...sandbox.watch.assets].sort(),
    );
    const neither = without(node(), 'avm.getAllBalances', 'avm.getBalance');
    await expect(walkSource(xBalances, neither, addressTarget)).rejects.toMatchObject({
      kind: 'unsupported',
    });
  });

  it('do not affect others: blockchains are recorded by their aliases', async () => {
    const methods = ['platform.getBlockchains', 'info.isBootstrapped'];
    const [page] = await walkSource(pBlockchains, without(node(), ...methods), target);
    expect(page).toMatchObject({ whole: false, note: `unsupported: ${methods.join(', ')}` });
    expect(rowsOf(pBlockchains, page ? [page] : [], target)).toMatchObject([
      { alias: 'P', is_bootstrapped: null },
      { alias: 'X' },
      { alias: 'C' },
    ]);
  });
});

describe('health without GET', () => {
  const report = {
    checks: { C: { error: { message: 'late' }, timestamp: '2026-01-01T00:00:00Z' } },
    healthy: false,
  };
  const rpc = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', result, id: 1 });

  /** Probes a node with these responses, by path or JSON-RPC method. */
  async function probeNode(probe: string, answer: (request: string) => [number, string]) {
    const server = await upstreamServer(({ url, body }, response) => {
      const [status, text] = answer(requestIn(url, body));
      response.writeHead(status, text === '' ? {} : { 'content-type': 'application/json' }).end(text);
    });
    try {
      const target = { observer: 'o', node: 'n', probe };
      const pages = await walkSource(nodeHealth, session(server.url), target);
      const requests = server.received.map(({ url, body }) => requestIn(url, body));
      return { requests, health: readHealth(pages[0]?.body) };
    } finally {
      await server.close();
    }
  }

  /** Path and query of a GET, or method and parameters of a call. */
  function requestIn(url: URL, body: string): string {
    if (body === '') return url.pathname + url.search;
    const call: unknown = JSON.parse(body);
    return `${getMember(call, 'method')} ${JSON.stringify(getMember(call, 'params'))}`;
  }

  it('is fetched by JSON-RPC, with its tag', async () => {
    const { requests, health } = await probeNode('health:subnet', (request) =>
      request.startsWith('/') ? [404, ''] : [200, rpc(report)],
    );
    expect(requests).toEqual([
      '/ext/health?tag=subnet',
      '/ext/health/health?tag=subnet',
      'health.health {"tags":["subnet"]}',
    ]);
    expect(health).toMatchObject({
      state: 'down',
      error: 'failing: C',
      checks: [{ name: 'C', state: 'down', error: 'late' }],
    });
  });

  it('is fetched by the other path', async () => {
    const { requests, health } = await probeNode('health', (request) =>
      request === '/ext/health' ? [405, '{}'] : [503, JSON.stringify(report)],
    );
    expect(requests).toEqual(['/ext/health', '/ext/health/health']);
    expect(health).toMatchObject({ state: 'down', checks: [{ state: 'down' }] });
  });

  it('is unknown, not down, if the node serves no health API', async () => {
    const { health } = await probeNode('liveness', () => [404, '']);
    expect(health).toMatchObject({ state: 'unknown', checks: null });
  });
});
