import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import { NOW, type Reply } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, get, rpc } = withSandbox({}, 'each');

const FROM = NOW / 1000 - 30 * 86_400;

/** Lists of every kind: by number, by key, by time; each with the member that contains its items. */
const LISTS = (): [path: string, member: string][] => {
  const { chain, address } = sandbox().watch.evmAddresses[0] ?? { chain: '', address: '' };
  return [
    [
      `/v1/networks/sandbox/blockchains/p-chain/nodes/${sandbox().watch.nodeIds[0]}/blocks?startTimestamp=${FROM}&pageSize=9`,
      'blocks',
    ],
    [`/v1/networks/sandbox/blockchains/p-chain/transactions:listStaking?pageSize=9`, 'transactions'],
    [`/v1/chains/${chain}/addresses/${address}/transactions:listNative?pageSize=9`, 'transactions'],
    [`/v2/chains/43114/metrics/txCount?startTimestamp=${FROM}&pageSize=9`, 'results'],
  ];
};

interface Walked {
  readonly items: string[];
  readonly sizes: number[];
  readonly tokens: string[];
  readonly last: Reply;
}

/** Follows the tokens of a list for this many pages, or until it is refused or ends. */
async function walk(path: string, member: string, pages: number): Promise<Walked> {
  const walked = { items: [] as string[], sizes: [] as number[], tokens: [] as string[] };
  let token = '';
  for (;;) {
    const last = await get(`${path}${token === '' ? '' : `&pageToken=${token}`}`);
    const items: unknown[] = last.body[member] ?? [];
    if (last.status === 200) walked.sizes.push(items.length);
    walked.items.push(...items.map((item) => JSON.stringify(item)));
    token = last.body.nextPageToken ?? '';
    if (token === '' || walked.sizes.length === pages) return { ...walked, last };
    walked.tokens.push(token);
  }
}

describe('walks in an unusual order', () => {
  it.each([0, 1, 2, 3])('reverse a list to its end: list %i', async (at) => {
    const [path, member] = LISTS()[at] ?? ['', ''];
    const large = path.replace('pageSize=9', 'pageSize=99');
    const whole = await walk(large, member, 1);
    sandbox().faults.next({}, 'list-reversed');
    const { items, sizes } = await walk(large, member, 10_000);
    expect(new Set(sizes.slice(0, -1))).toEqual(new Set([99]));
    // The order is reversed, and nothing is lost or repeated.
    expect(items.toReversed().slice(0, 99)).toEqual(whole.items);
    expect(new Set(items).size).toBe(items.length);
  });

  it('return one item a page', async () => {
    for (const [path, member] of LISTS()) {
      const whole = await walk(path, member, 1);
      sandbox().faults.next({}, 'page-of-one');
      const { items, sizes } = await walk(path, member, 9);
      expect([path, items, new Set(sizes)]).toEqual([path, whole.items, new Set([1])]);
    }
  });

  it('end with an expired token', async () => {
    for (const [path, member] of LISTS()) {
      for (const [kind, sizes] of [
        ['reversed-one-dead', [1, 1]],
        ['token-dies-seventh', [9, 9, 9, 9, 9, 9, 9]],
      ] as const) {
        sandbox().faults.next({}, kind);
        const expired = await walk(path, member, 20);
        expect([path, expired.sizes, expired.last.status]).toEqual([path, sizes, 400]);
        expect((await walk(path, member, 9)).sizes).toHaveLength(9);
      }
    }
  });

  it('derive tokens from the place', async () => {
    const [path, member] = LISTS()[0] ?? ['', ''];
    for (const [kind, same, pages] of [
      ['token-of-place', true, 9],
      ['place-token-dies-seventh', true, 7],
      ['token-dies-seventh', false, 7],
    ] as const) {
      sandbox().faults.clear();
      sandbox().faults.rate({ [kind]: 1 });
      const first = await walk(path, member, 9);
      const { nowMs } = (await get('/_sandbox/clock')).body;
      await fetch(`${sandbox().url}/_sandbox/clock`, { method: 'POST', body: '{"advanceMs":1}' });
      expect((await get('/_sandbox/clock')).body.nowMs).toBe(nowMs + 1);
      const again = await walk(path, member, 9);
      expect([kind, first.sizes.length, again.sizes.length]).toEqual([kind, pages, pages]);
      expect([kind, first.tokens.some((token) => again.tokens.includes(token))]).toEqual([kind, same]);
      if (same) expect(again.tokens).toEqual(first.tokens);
    }
  });

  it('are selected at the first page only', async () => {
    const [path, member] = LISTS()[0] ?? ['', ''];
    const { tokens } = await walk(path, member, 2);
    sandbox().faults.rate({ 'page-of-one': 1 });
    expect((await get(`${path}&pageToken=${tokens[0]}`)).body.blocks).toHaveLength(9);
    expect((await get('/ext/health')).status).toBe(200);
    expect(sandbox().ledger.faults()).toEqual({});
  });

  it('are counted with the served points', async () => {
    sandbox().faults.next({}, 'list-reversed');
    const { body } = await get('/v2/chains/43114/metrics/txCount?pageSize=3');
    const noted = sandbox()
      .ledger.metrics()
      .map(({ timestamp }) => timestamp);
    const served: number[] = body.results.map((point: { timestamp: number }) => point.timestamp);
    expect(noted.toSorted()).toEqual(served.toSorted());
    expect(sandbox().ledger.faults()).toEqual({ 'list-reversed': 1 });
  });
});

describe('lists that contradict', () => {
  const listWithFault = async (kind: FaultKind) => {
    sandbox().faults.next({}, kind);
    return (await rpc('/ext/info', 'info.peers')).body.result;
  };

  it('their earlier items', async () => {
    const right = (await rpc('/ext/info', 'info.peers')).body.result;
    const { length } = right.peers;
    expect(await listWithFault('list-emptied')).toEqual({ numPeers: '0', peers: [] });
    const halved = await listWithFault('list-halved');
    expect(halved.peers.length * 2).toBeLessThan(length);
    expect(halved.peers).toEqual(right.peers.slice(0, halved.peers.length));
    expect(halved.numPeers).toBe(String(halved.peers.length));
    expect((await rpc('/ext/info', 'info.peers')).body.result).toEqual(right);
  });

  it('themselves', async () => {
    const right = (await rpc('/ext/info', 'info.peers')).body.result;
    expect(await listWithFault('list-null')).toEqual({ numPeers: right.numPeers, peers: null });
    expect(await listWithFault('total-mismatch')).toEqual({
      numPeers: right.numPeers,
      peers: right.peers.slice(0, 10),
      total: 700,
    });
  });

  it('themselves on the last page, and in every group of balances', async () => {
    for (const [path, member] of LISTS()) {
      for (const [kind, count] of [
        ['list-emptied', 0],
        ['list-halved', 4],
        ['total-mismatch', 9],
      ] as const) {
        sandbox().faults.next({}, kind);
        const { sizes, last } = await walk(path, member, 5);
        expect([path, kind, sizes]).toEqual([path, kind, [count]]);
        expect(last.body.total).toBe(kind === 'total-mismatch' ? 700 : undefined);
      }
    }
    const { address } = sandbox().network.accounts.all[0] ?? { address: '' };
    sandbox().faults.next({}, 'list-emptied');
    const path = `/v1/networks/sandbox/blockchains/x-chain/balances?addresses=${address}`;
    const { unlocked } = (await get(path)).body.balances;
    expect(unlocked).toEqual([]);
    expect((await get(path)).body.balances.unlocked).not.toEqual([]);
  });

  it('the stored metric points', async () => {
    sandbox().faults.next({}, 'list-halved');
    const { body } = await get('/v2/chains/43114/metrics/txCount?pageSize=9');
    expect([body.results.length, sandbox().ledger.metrics().length]).toEqual([4, 4]);
  });
});
