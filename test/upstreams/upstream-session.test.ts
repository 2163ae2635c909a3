import { afterAll, describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/lib/redaction.ts';
import type { AnnouncedLimit, Budget } from '../../src/upstreams/budget.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { jsonText } from '../../src/upstreams/json.ts';
import { UpstreamSession, type UpstreamSettings } from '../../src/upstreams/upstream-session.ts';
import { sendJson, withServers } from '../support/upstream-server.ts';

const KEY = 'canary-4f1c2d';
// Tests run concurrently here: they mostly wait.
const { serve, serveRaw } = withServers(afterAll);

/** A budget that allows everything and records its calls. */
function freeBudget() {
  const takenUnits: [number, string][] = [];
  const blocked: number[] = [];
  const learned: AnnouncedLimit[] = [];
  const budget: Budget = {
    take: async (units, priority) => void takenUnits.push([units, priority]),
    block: async (milliseconds) => void blocked.push(milliseconds),
    learn: async (allowance) => void learned.push(allowance),
  };
  return { budget, takenUnits, blocked, learned };
}

function openSession(
  url: string,
  more: Partial<UpstreamSettings> = {},
  signal = new AbortController().signal,
) {
  return new UpstreamSession(
    {
      name: 'metrics',
      url,
      headers: { 'x-api-key': KEY },
      redact: (text) => text.replaceAll(KEY, '[redacted]'),
      budget: freeBudget().budget,
      deadline: 2_000,
      maxBytes: 1 << 20,
      ...more,
    },
    { weight: 20, priority: 'heal', signal, clock: () => 1_000 },
  );
}

/** Returns the failure of a response; its text must contain no secret. */
async function expectFailure(answer: Promise<unknown>): Promise<UpstreamFailure> {
  const error: unknown = await answer.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UpstreamFailure)) throw error;
  expect(error.message).not.toMatch(/canary|127\.0\.0\.1|https?:|secret-query/);
  return error;
}

describe('a request', () => {
  it('extends the configured URL, with its query and the key', async () => {
    const server = await serve((_, response) => sendJson(response, { ok: true }));
    for (const base of [`${server.url}/base`, `${server.url}/base/`])
      await openSession(base).get('/v1/list', { pageSize: 100, pageToken: 'a b&c', left: undefined });
    for (const { url, headers, method } of server.received) {
      expect(`${method} ${url.pathname}`).toBe('GET /base/v1/list');
      expect([...url.searchParams]).toEqual([
        ['pageSize', '100'],
        ['pageToken', 'a b&c'],
      ]);
      expect(headers['x-api-key']).toBe(KEY);
    }
  });

  it('uses the budget and is counted, also when it is retried', async () => {
    const { budget, takenUnits } = freeBudget();
    const server = await serve(({ number }, response) => sendJson(response, {}, number === 1 ? 503 : 200));
    const session = openSession(server.url, { budget });
    await session.get('/');
    expect(takenUnits).toEqual([
      [20, 'heal'],
      [20, 'heal'],
    ]);
    expect(session.usage).toEqual({ requests: 2, units: 40 });
    expect(session.now).toBe(1_000);
  });

  it('keeps exact numbers, and redacts secrets that a response echoes', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"name":"é","big":12345678901234567890,"key":"canary-4f1c2d"}');
    });
    expect(jsonText(await openSession(server.url).get('/one'))).toBe(
      '{"name":"é","big":12345678901234567890,"key":"[redacted]"}',
    );
  });

  it('is not sent if the budget refuses it, and blocks no others', async () => {
    const server = await serve((_, response) => sendJson(response, {}));
    const { budget, blocked } = freeBudget();
    const refusing: Budget = {
      ...budget,
      take: () => Promise.reject(new UpstreamFailure('rate-limited', 'no budget', { retryAfter: 100_000 })),
    };
    expect(await expectFailure(openSession(server.url, { budget: refusing }).get('/'))).toMatchObject({
      kind: 'rate-limited',
    });
    expect(server.received).toEqual([]);
    expect(blocked).toEqual([]);
  });

  it('reports the limits of the response to the budget', async () => {
    const { budget, learned } = freeBudget();
    const server = await serve((_, response) => {
      response.setHeader('ratelimit-policy', '8000;w=60');
      sendJson(response, {});
    });
    await openSession(server.url, { budget }).get('/');
    expect(learned).toEqual([{ limit: { units: 8000, seconds: 60 }, exhausted: null }]);
  });
});

describe.concurrent('a permanent error', () => {
  it.each([
    [301, 'redirect'],
    [307, 'redirect'],
    [400, 'bad-request'],
    [401, 'auth'],
    [403, 'auth'],
    [404, 'not-found'],
    [410, 'not-found'],
    [422, 'bad-request'],
  ] as const)('is %d: %s, and is requested once', async (status, kind) => {
    const other = await serve((_, response) => sendJson(response, {}));
    const server = await serve((_, response) => {
      response.setHeader('location', `${other.url}/stolen`);
      sendJson(response, { message: 'no' }, status);
    });
    expect(await expectFailure(openSession(server.url).get('/path', { q: 'secret-query' }))).toMatchObject({
      kind,
      status,
      message: expect.stringMatching(
        `^HTTP ${status}: ${status < 400 ? 'redirects are not followed' : 'no'}$`,
      ),
    });
    expect(server.received).toHaveLength(1);
    expect(other.received).toEqual([]);
  });
});

describe.concurrent('a temporary error', () => {
  it.each([500, 502, 503, 504])('is %d: requested again', async (status) => {
    const server = await serve(({ number }, response) => {
      if (number > 1) return sendJson(response, { number });
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
    });
    expect(await openSession(server.url).get('/')).toEqual({ number: 2 });
  });

  it('that stays is given up after a few attempts, with increasing pauses', async () => {
    const at: number[] = [];
    const server = await serve((_, response) => {
      at.push(performance.now());
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>http://127.0.0.1/</html>');
    });
    expect(await expectFailure(openSession(server.url).get('/'))).toMatchObject({
      kind: 'server',
      status: 502,
      later: true,
    });
    expect(at.length).toBe(4);
    const pauses = at.slice(1).map((one, index) => one - (at[index] ?? 0));
    expect(pauses[0]).toBeGreaterThan(350);
    expect(pauses[2]).toBeGreaterThan(1_550);
  });

  it('is a kept-alive socket that breaks: one more request, and it is complete', async () => {
    const server = await serve(({ number }, response) => {
      if (number === 2) return response.socket?.resetAndDestroy();
      sendJson(response, { number });
    });
    const session = openSession(server.url);
    expect(await session.get('/')).toEqual({ number: 1 });
    expect(await session.get('/')).toEqual({ number: 3 });
    expect(server.received).toHaveLength(3);
  });

  it('is not retried once the run is stopped', async () => {
    const stop = new AbortController();
    const server = await serve((_, response) => {
      sendJson(response, {}, 503);
      stop.abort();
    });
    expect(await expectFailure(openSession(server.url, {}, stop.signal).get('/'))).toMatchObject({
      kind: 'cancelled',
    });
    expect(server.received).toHaveLength(1);
  });
});

describe.concurrent('a 200 with an invalid body', () => {
  it.each([
    ['HTML', 'text/html', '<html></html>'],
    ['JSON with the type of a page', 'text/html', '{}'],
    ['without a type', '', '{}'],
    ['empty', 'application/json', ''],
    ['garbage', 'application/json', 'upstream request timeout'],
    ['with a BOM', 'application/json', '\ufeff{}'],
    ['cut at the end of the stream', 'application/json', '{"results":[{"a":1},{"a"'],
    ['two documents', 'application/json', '{}{}'],
    ['nested two million levels deep', 'application/json', '['.repeat(1_000_000)],
  ])('is refused completely: %s', async (_, type, text) => {
    const server = await serveRaw((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\n${type && `Content-Type: ${type}\r\n`}Connection: close\r\n\r\n${text}`);
    });
    const { kind, message } = await expectFailure(openSession(server.url).probe('/'));
    expect(kind).toBe('malformed');
    expect(message.length).toBeLessThan(200);
  });

  it('is refused as a partial response: 206; 203 is complete', async () => {
    const server = await serve(({ url }, response) =>
      sendJson(response, { items: [] }, Number(url.pathname.slice(1))),
    );
    expect(await expectFailure(openSession(server.url).get('/206'))).toMatchObject({
      kind: 'malformed',
      status: 206,
      message: expect.stringContaining('206: a partial response'),
    });
    expect(await openSession(server.url).get('/203')).toEqual({ items: [] });
  });

  it('is accepted for a health report as plain text', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-type', 'text/plain; charset=utf-8');
      response.end('{"healthy":true}');
    });
    expect(await openSession(server.url).probe('/')).toEqual({ healthy: true });
    expect(await expectFailure(openSession(server.url).get('/'))).toMatchObject({ kind: 'malformed' });
  });

  it('is requested again', async () => {
    const server = await serve(({ number }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(number === 1 ? '{"cut":' : '{"whole":true}');
    });
    expect(await openSession(server.url).get('/')).toEqual({ whole: true });
  });
});

describe.concurrent('429', () => {
  const startLimitedServer = (retryAfter: string | null) =>
    serve(({ number }, response) => {
      if (number > 1) return sendJson(response, { number });
      if (retryAfter !== null) response.setHeader('retry-after', retryAfter);
      sendJson(response, { message: 'Too many requests' }, 429);
    });

  it.each([
    ['seconds', () => '1', 1_000, 1_000],
    ['no seconds', () => '0', 0, 0],
    ['a date', () => new Date(Date.now() + 2_000).toUTCString(), 1, 2_000],
    ['a date in the past', () => 'Wed, 21 Oct 2015 07:28:00 GMT', 0, 0],
  ])('is honoured by all workers: Retry-After in %s', async (_, header, minPause, maxPause) => {
    const { budget, blocked } = freeBudget();
    const server = await startLimitedServer(header());
    const startedAt = performance.now();
    expect(await openSession(server.url, { budget }).get('/')).toEqual({ number: 2 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(minPause - 5);
    expect(blocked).toHaveLength(1);
    expect(blocked[0]).toBeGreaterThanOrEqual(minPause);
    expect(blocked[0]).toBeLessThanOrEqual(maxPause);
  });

  it.each([null, '', 'soon', '1e9', '-5', 'in 5 minutes', '12 parsecs', 'NaN', '0x10'])(
    'without a valid Retry-After waits as after a fault, with jitter: %j',
    async (header) => {
      const { budget, blocked } = freeBudget();
      const server = await startLimitedServer(header);
      await openSession(server.url, { budget }).get('/');
      expect(blocked).toHaveLength(1);
      expect(blocked[0]).toBeGreaterThanOrEqual(400);
      expect(blocked[0]).toBeLessThan(1_000);
    },
  );

  it.each(['1000000000', '30', new Date(Date.now() + 86_400_000).toUTCString()])(
    'with a long Retry-After is left to the queue, clamped: %s',
    async (header) => {
      const { budget, blocked } = freeBudget();
      const server = await startLimitedServer(header);
      expect(await expectFailure(openSession(server.url, { budget }).get('/'))).toMatchObject({
        kind: 'rate-limited',
        later: true,
        status: 429,
      });
      expect(server.received).toHaveLength(1);
      expect(blocked[0]).toBeGreaterThan(20_000);
      expect(blocked[0]).toBeLessThanOrEqual(3_600_000);
    },
  );
});

describe.concurrent('an error message', () => {
  it('contains neither URL nor query nor key, whatever the upstream echoes', async () => {
    const server = await serve(({ url, headers }, response) => {
      const echoed = `no such thing http://upstream${url.pathname}${url.search} for ${headers['x-api-key']}`;
      sendJson(response, { message: [echoed, `GET ${url.pathname}${url.search}`] }, 400);
    });
    const { message } = await expectFailure(openSession(server.url).get('/path', { q: 'secret-query' }));
    expect(message).toContain('no such thing');
  });

  it('contains no part of a key that is truncated at its end', async () => {
    const server = await serve((_, response) =>
      sendJson(response, { message: `${'x'.repeat(195)}${KEY}` }, 400),
    );
    expect((await expectFailure(openSession(server.url).get('/'))).message).not.toContain(KEY.slice(0, 4));
  });

  it('is short', async () => {
    const server = await serve((_, response) => sendJson(response, { message: 'x'.repeat(1_000_000) }, 400));
    expect((await expectFailure(openSession(server.url).get('/'))).message.length).toBeLessThan(300);
  });

  it.each([
    ['a list', []],
    ['null', null],
    ['no message', { error: 'x' }],
    ['a number', { message: 5 }],
  ])('is the status if the body is %s', async (_, body) => {
    const server = await serve((_request, response) => sendJson(response, body, 400));
    expect((await expectFailure(openSession(server.url).get('/'))).message).toContain('HTTP 400');
  });
});

describe.concurrent('a key that a response echoes', () => {
  const specialKey = 'canary-"quoted"\\and/<slashed>&%';
  const secret = { headers: { 'x-api-key': specialKey }, redact: createRedactor([specialKey]) };

  it('is removed from all parsed values, at any place and in any form', async () => {
    const server = await serve(({ headers }, response) => {
      const key = String(headers['x-api-key']);
      const inner = JSON.stringify({ key });
      sendJson(response, {
        note: key,
        [key]: [`before ${key}`, { inner }],
        link: `?key=${encodeURIComponent(key)}`,
      });
    });
    const body = await openSession(server.url, secret).get('/');
    expect(body).toEqual({
      note: '[redacted]',
      '[redacted]': ['before [redacted]', { inner: '{"key":"[redacted]"}' }],
      link: '?key=[redacted]',
    });
  });

  it('is removed from errors, also from a header', async () => {
    const server = await serve(({ headers }, response) => {
      response.writeHead(200, { 'content-type': `text/${String(headers['x-api-key'])}` }).end('{}');
    });
    expect((await expectFailure(openSession(server.url, secret).get('/'))).message).toContain('[redacted]');
  });
});

describe.concurrent('a JSON-RPC call', () => {
  const startRpcServer = (answer: (id: unknown) => unknown) =>
    serve(({ body }, response) => sendJson(response, answer(JSON.parse(body).id)));

  it('sends its envelope and returns the result', async () => {
    const server = await startRpcServer((id) => ({ jsonrpc: '2.0', id, result: { height: '7' } }));
    const session = openSession(server.url);
    expect(await session.rpc('/ext/bc/P', 'platform.getHeight', { a: 1 })).toEqual({ height: '7' });
    expect(await session.rpc('/ext/bc/P', 'platform.getHeight')).toEqual({ height: '7' });
    const [first, second] = server.received;
    expect(first).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(first?.body ?? '')).toEqual({
      jsonrpc: '2.0',
      id: expect.anything(),
      method: 'platform.getHeight',
      params: { a: 1 },
    });
    expect(JSON.parse(second?.body ?? '').id).not.toBe(JSON.parse(first?.body ?? '').id);
  });

  it('returns a result of null or false', async () => {
    for (const result of [null, false, 0, '']) {
      const server = await startRpcServer((id) => ({ jsonrpc: '2.0', id, result }));
      expect(await openSession(server.url).rpc('/', 'x')).toBe(result);
    }
  });

  it.each([
    [{ code: -32000, message: 'problem retrieving' }, 'rpc'],
    [{ code: -32601, message: 'whatever' }, 'unsupported'],
    [{ code: -32000, message: "rpc: can't find method platform.x" }, 'unsupported'],
    [{ code: -32000, message: 'API call is not available' }, 'unsupported'],
    ['a text', 'rpc'],
    [{}, 'rpc'],
  ])('whose 200 has the error %j fails once: %s', async (error, kind) => {
    const server = await startRpcServer((id) => ({ jsonrpc: '2.0', id, error }));
    expect(await expectFailure(openSession(server.url).rpc('/', 'method.name'))).toMatchObject({
      kind,
      message: expect.stringContaining('method.name'),
    });
    expect(server.received).toHaveLength(1);
  });

  it('has no URL from the error in its message', async () => {
    const message = `cannot reach http://10.0.0.1:9650/?q=secret-query with ${KEY}`;
    const server = await startRpcServer((id) => ({ jsonrpc: '2.0', id, error: { code: -32000, message } }));
    expect((await expectFailure(openSession(server.url).rpc('/', 'x'))).message).not.toContain('10.0.0.1');
  });

  it.each([
    ['the id of another call', (id: unknown) => ({ jsonrpc: '2.0', id: Number(id) + 1000, result: 1 })],
    ['no id', () => ({ jsonrpc: '2.0', result: 1 })],
    ['no result', (id: unknown) => ({ jsonrpc: '2.0', id })],
    ['a list', (id: unknown) => [{ jsonrpc: '2.0', id, result: 1 }]],
    ['null', () => null],
  ])('whose response is %s is malformed, and is retried', async (_, answer) => {
    const server = await serve(({ body, number }, response) => {
      const { id } = JSON.parse(body);
      sendJson(response, number === 1 ? answer(id) : { jsonrpc: '2.0', id, result: 'right' });
    });
    expect(await openSession(server.url).rpc('/', 'x')).toBe('right');
    expect(server.received).toHaveLength(2);
  });

  it('whose body is empty is malformed', async () => {
    const server = await serve(({ number, body }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(number === 1 ? '' : JSON.stringify({ id: JSON.parse(body).id, result: 1 }));
    });
    expect(await openSession(server.url).rpc('/', 'x')).toBe(1);
  });
});

describe('a probe', () => {
  it.each([200, 503])('returns a report with status %d, after one request', async (status) => {
    const server = await serve((_, response) => sendJson(response, { healthy: false }, status));
    expect(await openSession(server.url).probe('/ext/health')).toEqual({ healthy: false });
    expect(server.received).toHaveLength(1);
  });

  it('that fails is not retried', async () => {
    const server = await serve((_, response) => response.destroy());
    expect(await expectFailure(openSession(server.url).probe('/'))).toMatchObject({ kind: 'reset' });
    expect(server.received).toHaveLength(1);
  });
});
