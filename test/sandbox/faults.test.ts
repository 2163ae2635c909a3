import { createConnection } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAULT_KINDS, type FaultKind, ITEM_KINDS } from '../../sandbox/faults/kinds.ts';
import { get as getFrom, NOW, stillSandbox } from './client.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, get, post, rpc } = withSandbox({}, 'each');

beforeEach(async () => {
  sandbox().faults.tune({ lateMs: 20, dripMs: 1, hugeBytes: 1 << 20, bombBytes: 1 << 20, depth: 1000 });
});
const METRIC = '/v2/chains/43114/metrics/txCount?pageSize=5';
const blocks = (): string =>
  `/v1/networks/sandbox/blockchains/p-chain/nodes/${sandbox().watch.nodeIds[0]}/blocks?pageSize=5`;

/** Returns the bytes of a response as sent. */
function raw(path: string): Promise<string> {
  return new Promise((resolve) => {
    const { port } = new URL(sandbox().url);
    const socket = createConnection(Number(port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => resolve(`${text}<error>`));
    socket.on('close', () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: sandbox\r\nconnection: close\r\n\r\n`);
  });
}

describe('faults', () => {
  it.each(['429', '400', '401', '403', '404', '500', '502', '503'] as const)(
    'respond to %s like the services',
    async (kind) => {
      sandbox().faults.next({}, kind);
      const { status, body } = await get(METRIC);
      expect([status, body.statusCode]).toEqual([Number(kind), Number(kind)]);
      expect((await get(METRIC)).status).toBe(200);
    },
  );

  it.each([
    ['429', null],
    ['429-seconds', /^[1-5]$/],
    ['429-date', /^Thu, 05 Mar 2026 10:20:0\d GMT$/],
    ['429-past', /^Thu, 05 Mar 2026 09:20:00 GMT$/],
    ['429-huge', /^1000000000$/],
    ['429-garbage', /^soon/],
  ] as const)('send Retry-After: %s', async (kind, pattern) => {
    sandbox().faults.next({}, kind);
    const { headers } = await get(METRIC);
    expect(headers.get('retry-after')).toEqual(pattern === null ? null : expect.stringMatching(pattern));
  });

  it('respond with pages for people, or with a redirect', async () => {
    for (const kind of ['502-html', '504-html', 'html'] as const) {
      sandbox().faults.next({}, kind);
      const { status, text, headers } = await get(METRIC);
      expect([status, headers.get('content-type')?.startsWith('text/html')]).toEqual([
        kind === 'html' ? 200 : Number(kind.slice(0, 3)),
        true,
      ]);
      expect(text).toContain('<html>');
    }
    sandbox().faults.next({}, 'redirect');
    expect((await get(METRIC)).status).toBe(302);
  });

  it('cut the body in three ways', async () => {
    const whole = (await get(METRIC)).text;
    for (const kind of ['truncated-length', 'truncated-chunked', 'truncated-close'] as const) {
      sandbox().faults.next({}, kind);
      const text = await raw(METRIC);
      expect(text).toContain(whole.slice(0, 40));
      expect(text).not.toContain(whole.slice(-20));
      expect(/content-length/i.test(text)).toBe(kind === 'truncated-length');
      expect(/transfer-encoding: chunked/i.test(text)).toBe(kind === 'truncated-chunked');
      expect(text).not.toContain('\r\n0\r\n');
    }
  });

  it('reset, stall and slow the connection', async () => {
    sandbox().faults.next({}, 'reset');
    expect(await raw(METRIC)).toBe('<error>');
    sandbox().faults.next({}, 'slow-headers');
    expect((await get(METRIC)).body.results).toHaveLength(5);
    sandbox().faults.next({}, 'slow-body');
    expect((await get('/v2/chains/43114/metrics/txCount?pageSize=1')).body.results).toHaveLength(1);
    sandbox().faults.next({}, 'stall');
    await expect(fetch(`${sandbox().url}${METRIC}`, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  });

  it('send invalid bodies', async () => {
    const bodyWithFault = async (kind: FaultKind): Promise<Buffer> => {
      sandbox().faults.next({}, kind);
      return Buffer.from(await (await fetch(`${sandbox().url}${METRIC}`)).arrayBuffer());
    };
    expect((await bodyWithFault('gzip-bomb')).length).toBeGreaterThan(1 << 20);
    expect((await bodyWithFault('huge-body')).length).toBeGreaterThan(1 << 20);
    expect((await bodyWithFault('deep-nesting')).toString()).toBe(`${'['.repeat(1000)}${']'.repeat(1000)}`);
    expect((await bodyWithFault('bom')).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect((await bodyWithFault('bad-utf8')).includes(Buffer.from([0xc3, 0x28]))).toBe(true);
    expect((await bodyWithFault('empty-body')).length).toBe(0);
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from([0xc3, 0x28]))).toThrow();
  });

  it('expire a token, repeat it, or make a cycle', async () => {
    const first = await get(blocks());
    const token = first.body.nextPageToken;
    sandbox().faults.next({}, 'token-dead');
    expect((await get(blocks())).status).toBe(200);
    expect((await get(`${blocks()}&pageToken=${token}`)).status).toBe(400);
    expect((await get(`${blocks()}&pageToken=${token}`)).status).toBe(200);

    for (const [kind, length] of [
      ['token-repeated', 1],
      ['token-circular', 2],
    ] as const) {
      sandbox().faults.next({}, kind);
      let next = (await get(`${blocks()}&startTimestamp=${length}`)).body.nextPageToken;
      const tokens: string[] = [];
      for (let i = 0; i < 6; i += 1) {
        tokens.push(next);
        const reply = await get(`${blocks()}&startTimestamp=${length}&pageToken=${next}`);
        expect(reply.body.blocks).toHaveLength(5);
        next = reply.body.nextPageToken;
      }
      expect([kind, new Set(tokens).size]).toEqual([kind, length]);
    }
  });

  it('empty, repeat and shorten pages', async () => {
    const right = (await get(METRIC)).body;
    const pageWithFault = async (kind: FaultKind): Promise<{ results: unknown[]; nextPageToken: string }> => {
      sandbox().faults.next({}, kind);
      return (await get(METRIC)).body;
    };
    sandbox().faults.next({}, 'empty-page');
    expect((await get(METRIC)).body).toEqual(right);
    const second = `${METRIC}&pageToken=${right.nextPageToken}`;
    const { body } = await get(second);
    expect(body).toEqual({ results: [], nextPageToken: expect.not.stringMatching(right.nextPageToken) });
    const late = await get(`${METRIC}&pageToken=${body.nextPageToken}`);
    expect(late.body.results).toEqual((await get(second)).body.results);
    const doubled = (await pageWithFault('duplicate-items')).results;
    expect(doubled.length).toBeGreaterThan(5);
    expect(new Set(doubled.map((point) => JSON.stringify(point))).size).toBe(5);
    expect((await pageWithFault('missing-item')).results).toHaveLength(4);
  });

  it.each(ITEM_KINDS)('corrupt one item of a list: %s', async (kind) => {
    const right = (await get(blocks())).body.blocks.map((block: unknown) => JSON.stringify(block));
    sandbox().faults.next({}, kind);
    const { text, status } = await get(blocks());
    const unchanged = right.filter((block: string) => text.includes(block));
    expect([status, unchanged.length]).toEqual([200, 4]);
  });

  it.each([
    ['huge-integer', '"value":9007199254740993'],
    ['huge-exponent', '"value":1e400'],
    ['minus-zero', '"value":-0'],
    ['negative', '"value":-17'],
    ['long-digits', '"value":123456789012345678901234567890'],
    ['nan-string', '"value":"NaN"'],
    ['nul-character', '\\u0000'],
    ['lone-surrogate', '\\ud800'],
    ['proto-key', '"__proto__":{"polluted":true}'],
    ['extra-field', '"fieldOfTomorrow"'],
  ] as const)('write %s into the text of a metric', async (kind, part) => {
    sandbox().faults.next({ operation: 'getMetric', target: 'txCount' }, kind);
    expect((await get(METRIC)).text).toContain(part);
  });

  it('contradict the envelope in JSON-RPC and health', async () => {
    const listPeers = (): ReturnType<typeof rpc> => rpc('/ext/info', 'info.peers');
    sandbox().faults.next({ operation: 'info.peers' }, 'rpc-error');
    expect((await listPeers()).body).toMatchObject({ error: { code: -32000, data: null }, id: 1 });
    sandbox().faults.next({}, 'rpc-wrong-id');
    expect((await listPeers()).body).toMatchObject({ id: 987_654_321, result: { peers: expect.any(Array) } });
    sandbox().faults.next({}, 'rpc-empty');
    expect(await listPeers()).toMatchObject({ status: 200, text: '' });
    sandbox().faults.next({}, 'health-lie');
    expect(await get('/ext/health')).toMatchObject({ status: 200, body: { healthy: false } });
    sandbox().faults.next({}, 'missing-item');
    const corrupted = (await listPeers()).body.result;
    expect(String(corrupted.peers.length + 1)).toBe(corrupted.numPeers);
  });

  it('apply to selected requests only, for a number of times, or until a time', async () => {
    sandbox().faults.next({ operation: 'listSubnets' }, '500', 2);
    sandbox().faults.until({ service: 'metrics' }, '429', NOW + 1);
    const statuses = async (path: string): Promise<number[]> => [
      (await get(path)).status,
      (await get(path)).status,
      (await get(path)).status,
    ];
    expect(await statuses('/v1/networks/sandbox/subnets')).toEqual([500, 500, 200]);
    expect(await statuses(METRIC)).toEqual([429, 429, 429]);
    await post('/_sandbox/clock', { advanceMs: 1 });
    expect(await statuses(METRIC)).toEqual([200, 200, 200]);
    expect((await post('/_sandbox/faults', { kind: '503', operation: 'getMetric' })).body).toEqual({
      answer: { planned: '503' },
    });
    expect(await statuses(METRIC)).toEqual([503, 200, 200]);
  });

  it('apply at a rate, derived from the seed', async () => {
    const run = async (seed: number): Promise<string> => {
      const { sandbox: other } = await stillSandbox({ seed });
      other.faults.rate({ '500': 0.2, 'nan-string': 0.2 });
      for (let i = 0; i < 100; i += 1) await getFrom(other, METRIC);
      const faults = other.ledger.calls().map((call) => call.fault ?? '-');
      await other.close();
      return faults.join(' ');
    };
    const first = await run(5);
    expect(await run(5)).toBe(first);
    expect(await run(6)).not.toBe(first);
    expect(first.match(/500/g)?.length).toBeGreaterThan(8);
    expect(first.match(/nan-string/g)?.length).toBeGreaterThan(5);
  });

  it('have kinds that are all different', () => {
    expect(new Set(FAULT_KINDS).size).toBe(FAULT_KINDS.length);
  });
});
