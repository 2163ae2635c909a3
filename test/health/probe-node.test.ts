import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';
import { probeOnce } from './probe-once.ts';

let server: UpstreamServer;
let answer: { status: number; body: string; slow?: boolean } = { status: 200, body: '' };
beforeAll(async () => {
  server = await upstreamServer((_request, response) => {
    if (answer.slow) return;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
});
afterAll(() => server.close());

describe('a probe', () => {
  it('of a healthy node measures its time', async () => {
    answer = { status: 200, body: '{"checks":{"C":{"timestamp":"2026-01-01T00:00:00Z"}},"healthy":true}' };
    const reading = await probeOnce(server.url);
    expect(reading).toMatchObject({ state: 'up', checks: [{ name: 'C', state: 'up' }] });
    expect(reading.latency).toBeGreaterThan(0);
  });

  it('reads the body of a 503', async () => {
    answer = {
      status: 503,
      body: '{"checks":{"C":{"error":"late","timestamp":"2026-01-01T00:00:00Z"}},"healthy":false}',
    };
    expect(await probeOnce(server.url)).toMatchObject({
      state: 'down',
      error: 'failing: C',
      checks: [{ error: 'late' }],
    });
  });

  it('without a response in time is a failure of the node, after its own deadline', async () => {
    answer = { status: 200, body: '', slow: true };
    expect(await probeOnce(server.url)).toEqual({
      state: 'down',
      error: 'no complete response within 4500 ms',
      checks: null,
      latency: null,
    });
  });

  it('with a refused connection is a failure of the node, also while the network is cut off', async () => {
    expect(await probeOnce('http://127.0.0.1:9')).toMatchObject({
      state: 'down',
      checks: null,
      latency: null,
    });
    expect(await probeOnce('http://127.0.0.1:9', true)).toMatchObject({ state: 'down' });
  });

  it('without a response in time is unknown while the network is cut off', async () => {
    answer = { status: 200, body: '', slow: true };
    expect(await probeOnce(server.url, true)).toMatchObject({
      state: 'unknown',
      error: expect.stringMatching(/the recorder is cut off \(no complete response within 4500 ms\)$/),
    });
  });

  it('of an unknown host name is a failure of the recorder', async () => {
    expect(await probeOnce('http://node.invalid:9650')).toMatchObject({ state: 'unknown', checks: null });
  });
});
