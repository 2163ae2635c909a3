import { describe, expect, it } from 'vitest';
import { NOW } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, clock, get, post, rpc } = withSandbox({ ledgerCalls: 3, ledgerBodies: true }, 'each');

const HOUR = Math.floor(NOW / 3_600_000) * 3600;

describe('the ledger of the sandbox', () => {
  it('counts calls and units without limit, and keeps the last calls', async () => {
    for (let i = 0; i < 9; i += 1) await get('/v2/chains/43114/metrics/txCount?pageSize=1');
    await get(`/v1/networks/sandbox/blockchains/p-chain/balances?addresses=${sandbox().watch.addresses[0]}`);
    await get('/v1/networks/sandbox/subnets');
    await rpc('/ext/info', 'info.peers');
    const { ledger } = sandbox();
    expect(ledger.count('getMetric')).toBe(9);
    expect(ledger.totals()).toEqual({
      getMetric: { calls: 9, units: 900 },
      getBalancesByAddresses: { calls: 1, units: 100 },
      listSubnets: { calls: 1, units: 20 },
      'info.peers': { calls: 1, units: 0 },
    });
    expect(ledger.calls()).toHaveLength(3);
    const [last] = ledger.calls({ operation: 'info.peers' });
    expect(last).toMatchObject({
      call: 12,
      at: NOW,
      service: 'node',
      method: 'POST',
      target: '/ext/info',
      status: 200,
    });
    expect(last?.body).toContain('"numPeers"');
  });

  it('has every value of a point in the order of the responses', async () => {
    const path = '/v2/chains/43114/metrics/txCount?pageSize=2';
    const answered: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const { body } = await get(path);
      for (const point of body.results) if (point.timestamp === HOUR) answered.push(point.value);
      clock().advance(900_000);
    }
    const filter = { chain: '43114', metric: 'txCount', interval: 'hour', timestamp: HOUR };
    const rows = sandbox().ledger.metrics(filter);
    expect(rows.map((row) => row.value)).toEqual(answered);
    expect(rows.map((row) => row.at)).toEqual(rows.map((_, i) => NOW + i * 900_000));
    const { text } = await get(
      `/_sandbox/ledger/metrics?chain=43114&metric=txCount&interval=hour&timestamp=${HOUR}`,
    );
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
  });

  it('excludes values that a fault made unreadable', async () => {
    const path = '/v2/chains/43114/metrics/txCount?pageSize=3';
    sandbox().faults.next({ operation: 'getMetric' }, 'truncated-length');
    await get(path).catch(() => undefined);
    sandbox().faults.next({ operation: 'getMetric' }, '503');
    await get(path);
    expect(sandbox().ledger.metrics()).toEqual([]);
    sandbox().faults.next({ operation: 'getMetric' }, 'nan-string');
    const { body } = await get(path);
    const good = body.results.filter((point: { value: unknown }) => typeof point.value === 'number');
    expect(good).toHaveLength(2);
    expect(
      sandbox()
        .ledger.metrics()
        .map(({ timestamp, value }) => ({ value, timestamp })),
    ).toEqual(good);
    expect(sandbox().ledger.faults()).toEqual({ 'truncated-length': 1, '503': 1, 'nan-string': 1 });
    expect(
      sandbox()
        .ledger.calls()
        .map((call) => call.fault),
    ).toEqual(['truncated-length', '503', 'nan-string']);
  });

  it('is served over HTTP with the true blocks, and the clock can be moved', async () => {
    await get('/v1/networks/sandbox/subnets');
    const { text } = await get('/_sandbox/ledger/calls?operation=listSubnets');
    expect(JSON.parse(text)).toMatchObject({ call: 1, operation: 'listSubnets' });
    expect((await get('/_sandbox/ledger/totals')).body).toEqual({
      totals: { listSubnets: { calls: 1, units: 20 } },
      faults: {},
    });
    const nodeId = sandbox().watch.nodeIds[0] ?? '';
    const truth = await get(
      `/_sandbox/truth/blocks?nodeId=${nodeId}&blockchainId=x-chain&start=1750000000&end=1751000000`,
    );
    expect(truth.text.trim().split('\n')).toEqual([
      ...sandbox().network.proposedBlockHashes(nodeId, 'x-chain', 1750000000, 1751000000),
    ]);
    expect((await post('/_sandbox/clock', { advanceMs: 5000 })).body).toEqual({ nowMs: NOW + 5000 });
    expect((await post('/_sandbox/clock', {})).status).toBe(400);
  });
});
