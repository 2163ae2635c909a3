import { describe, expect, it } from 'vitest';
import { NOW } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, clock, get } = withSandbox({ blocksPerHour: 30 }, 'each');

const SEC = NOW / 1000;

interface Block {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly blockTimestamp: number;
  readonly proposerDetails: { readonly proposerNodeId: string };
}

function path(node: number, chain = 'p-chain'): string {
  return `/v1/networks/sandbox/blockchains/${chain}/nodes/${sandbox().watch.nodeIds[node]}/blocks`;
}

async function all(url: string): Promise<Block[]> {
  const blocks: Block[] = [];
  let token = '';
  do {
    const { status, body, text } = await get(`${url}${token}`);
    expect(status, text).toBe(200);
    blocks.push(...body.blocks);
    token = body.nextPageToken === undefined ? '' : `&pageToken=${body.nextPageToken}`;
  } while (token !== '');
  return blocks;
}

describe('proposed blocks', () => {
  it.each([
    ['p-chain', 0],
    ['x-chain', 1],
    ['c-chain', 2],
    ['p-chain', 3],
  ])('on the %s of node %i equal those of the model, newest first', async (chain, node) => {
    const from = SEC - 40 * 86_400;
    const to = SEC - 37 * 86_400;
    const blocks = await all(`${path(node, chain)}?startTimestamp=${from}&endTimestamp=${to}&pageSize=100`);
    const truth = [
      ...sandbox().network.proposedBlockHashes(sandbox().watch.nodeIds[node] ?? '', chain, from, to),
    ];
    expect(blocks.map((block) => block.blockHash)).toEqual(truth.reverse());
    expect(sandbox().network.proposedBlockCount(sandbox().watch.nodeIds[node] ?? '', chain, from, to)).toBe(
      truth.length,
    );
    expect(truth.length).toBeGreaterThan(500);
    expect(new Set(blocks.map((block) => block.blockNumber)).size).toBe(blocks.length);
    for (const block of blocks) {
      expect(block.blockTimestamp).toBeGreaterThanOrEqual(from);
      expect(block.blockTimestamp).toBeLessThanOrEqual(to);
      expect(block.proposerDetails.proposerNodeId).toBe(sandbox().watch.nodeIds[node]);
    }
    expect(new Set(blocks.map((block) => block.blockTimestamp)).size).toBeLessThan(blocks.length);
  });

  it('are proposed by validators of their time', async () => {
    const [, , , intermittent] = sandbox().watch.nodeIds;
    const stakes = sandbox().network.validators.stakes[11] ?? [];
    const [first, second] = stakes.filter((stake) => stake.start > sandbox().network.genesisSec);
    const gap = [first?.end ?? 0, (second?.start ?? 0) - 1] as const;
    expect(sandbox().network.proposedBlockCount(intermittent ?? '', 'p-chain', ...gap)).toBe(0);
    expect(
      sandbox().network.proposedBlockCount(intermittent ?? '', 'p-chain', first?.start ?? 0, first?.end ?? 0),
    ).toBeGreaterThan(0);
  });

  it('include both ends of the range', async () => {
    const [, second, , fourth] = (await get(`${path(0)}?pageSize=10`)).body.blocks;
    const { body } = await get(
      `${path(0)}?startTimestamp=${fourth.blockTimestamp}&endTimestamp=${second.blockTimestamp}`,
    );
    const times = body.blocks.map((block: Block) => block.blockTimestamp);
    expect([times[0], times.at(-1)]).toEqual([second.blockTimestamp, fourth.blockTimestamp]);
  });

  it('have ten to a page, and at most a hundred', async () => {
    expect((await get(path(0))).body.blocks).toHaveLength(10);
    for (const size of ['0', '101', '-1', 'ten', '1.5']) {
      const { status, body } = await get(`${path(0)}?pageSize=${size}`);
      expect([size, status, Array.isArray(body.message)]).toEqual([size, 400, true]);
    }
    expect((await get(path(0).replace('NodeID-', ''))).status).toBe(400);
    expect((await get(path(0).replace('sandbox', 'nonet'))).status).toBe(400);
    expect((await get(path(0).replace('p-chain', 'q-chain'))).status).toBe(400);
  });

  it('that arrive during a walk do not shift the following pages', async () => {
    const first = await get(`${path(0)}?pageSize=5`);
    clock().advance(3_600_000);
    const second = await get(`${path(0)}?pageSize=5&pageToken=${first.body.nextPageToken}`);
    const truth = [
      ...sandbox().network.proposedBlockHashes(sandbox().watch.nodeIds[0] ?? '', 'p-chain', 0, SEC),
    ].reverse();
    expect([...first.body.blocks, ...second.body.blocks].map((block: Block) => block.blockHash)).toEqual(
      truth.slice(0, 10),
    );
  });
});

describe('page tokens', () => {
  it('are UUIDs of version 4 that expire after 24 hours on the clock of the sandbox', async () => {
    const url = `${path(0)}?pageSize=5`;
    const token = (await get(url)).body.nextPageToken;
    expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    clock().advance(86_399_000);
    expect((await get(`${url}&pageToken=${token}`)).status).toBe(200);
    clock().advance(1_000);
    const expired = await get(`${url}&pageToken=${token}`);
    expect(expired.body).toEqual({
      message: 'Invalid or expired page token',
      error: 'Bad Request',
      statusCode: 400,
    });
  });

  it('fix the parameters of the request', async () => {
    const token = (await get(`${path(0)}?pageSize=5&startTimestamp=1750000000`)).body.nextPageToken;
    const with_ = async (url: string): Promise<number> => (await get(`${url}&pageToken=${token}`)).status;
    expect(await with_(`${path(0)}?pageSize=5&startTimestamp=1750000000`)).toBe(200);
    expect(await with_(`${path(0)}?startTimestamp=1750000000&pageSize=5`)).toBe(200);
    expect(await with_(`${path(0)}?pageSize=6&startTimestamp=1750000000`)).toBe(400);
    expect(await with_(`${path(0)}?pageSize=5&startTimestamp=1750000001`)).toBe(400);
    expect(await with_(`${path(1)}?pageSize=5&startTimestamp=1750000000`)).toBe(400);
    expect((await get(`${path(0)}?pageToken=${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`)).status).toBe(
      400,
    );
  });

  it('page through every list without a gap or a repeat', async () => {
    const address = sandbox().watch.evmAddresses[0]?.address;
    const lists = [
      ['/v1/networks/sandbox/subnets?pageSize=2', 'subnets', 'subnetId'],
      [
        '/v1/networks/sandbox/blockchains/p-chain/transactions:listStaking?pageSize=70',
        'transactions',
        'txHash',
      ],
      [
        `/v1/networks/sandbox/rewards:listPending?pageSize=7&sortOrder=asc&nodeIds=${sandbox().watch.nodeIds.join(',')}`,
        'pendingRewards',
        '',
      ],
      [
        `/v1/chains/43114/addresses/${address}/transactions:listNative?pageSize=100&startBlock=18000000`,
        'transactions',
        'txHash',
      ],
      [
        `/v1/chains/43114/addresses/${address}/transactions:listErc1155?pageSize=7&startBlock=18200000`,
        'transactions',
        '',
      ],
      [`/v1/chains/43114/contracts/${address}/deployments?pageSize=5`, 'contracts', 'address'],
      [
        `/v1/chains/43114/nfts/collections/${sandbox().watch.collections[0]?.address}/tokens?pageSize=90`,
        'tokens',
        'tokenId',
      ],
    ] as const;
    for (const [url, list, key] of lists) {
      const keys: string[] = [];
      let pages = 0;
      for (let token = ''; token !== 'end'; pages += 1) {
        const { body, status, text } = await get(`${url}${token}`);
        expect(status, text).toBe(200);
        for (const item of body[list]) keys.push(key === '' ? JSON.stringify(item) : item[key]);
        token = body.nextPageToken === undefined ? 'end' : `&pageToken=${body.nextPageToken}`;
      }
      expect([url, new Set(keys).size, pages > 1]).toEqual([url, keys.length, true]);
    }
  });
});

describe('lists of an EVM address', () => {
  it('include startBlock and exclude endBlock', async () => {
    const url = `/v1/chains/43114/addresses/${sandbox().watch.evmAddresses[0]?.address}/transactions:listNative`;
    const blocks = (await get(`${url}?pageSize=20`)).body.transactions.map((item: { blockNumber: string }) =>
      Number(item.blockNumber),
    );
    const [top = 0, low = 0] = [blocks[0], blocks[15]];
    const { body } = await get(`${url}?pageSize=100&startBlock=${low}&endBlock=${top}`);
    const found = body.transactions.map((item: { blockNumber: string }) => Number(item.blockNumber));
    expect(found).toEqual(blocks.filter((block: number) => block >= low && block < top));
  });

  it('are consistent: the ERC-1155 balances are the sums of the transfers', async () => {
    const address = sandbox().watch.evmAddresses[2]?.address ?? '';
    const sums = new Map<string, number>();
    for (let token = ''; token !== 'end'; ) {
      const { body } = await get(
        `/v1/chains/43114/addresses/${address}/transactions:listErc1155?pageSize=100${token}`,
      );
      for (const { from, to, value, erc1155Token } of body.transactions) {
        const sum = sums.get(erc1155Token.tokenId) ?? 0;
        const change =
          Number(value) * ((to.address === address ? 1 : 0) - (from.address === address ? 1 : 0));
        sums.set(erc1155Token.tokenId, sum + change);
      }
      token = body.nextPageToken === undefined ? 'end' : `&pageToken=${body.nextPageToken}`;
    }
    const { body } = await get(
      `/v1/chains/43114/addresses/${address.toLowerCase()}/balances:listErc1155?pageSize=100`,
    );
    const balances = body.erc1155TokenBalances.map((item: { tokenId: string; balance: string }) => [
      item.tokenId,
      Number(item.balance),
    ]);
    expect(new Map(balances)).toEqual(sums);
  });
});
