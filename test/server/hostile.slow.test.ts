import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { pages } from '../../src/server/pages/pages.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KEY = 'canary-5e1f7a90';
const FORM = 'application/x-www-form-urlencoded';
const PAYLOADS = [
  `' or 1=1; drop table recorder.runs; --`,
  `1); select pg_sleep(20); --`,
  `<script>alert("${'x'.repeat(8)}")</script>`,
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '\u0000\ud800',
  '{{7*7}}#{7*7}',
  '%',
  '__proto__',
  '-9223372036854775809',
  '1e400',
  'x'.repeat(9_000),
  '2026-02-30T99:99:99Z',
  '\r\nset-cookie: a=b',
];
/** Texts that no response may contain: the key, a file of the code, the messages of the database's driver. */
const INDISCREET = new RegExp(`${KEY}|node_modules|\\.[jt]sx?:\\d+|PostgresError|root:x:0`);

const agent = new Agent({ connections: 50 });
const { it, database, sql } = withDatabase();
let sandbox: Sandbox;
const dir = temporaryFolder('hostile');
let up: Running;
let port: number;

const named = z.object({ name: z.string(), in: z.string() });
const described = z.object({
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({ parameters: z.array(z.union([named, z.object({ $ref: z.string() })])).default([]) }),
    }),
  ),
  components: z.object({ parameters: z.record(z.string(), named) }),
});

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false });
  port = await findFreePort();
  const service = { url: sandbox.url, apiKeyHeader: 'x-key' };
  const nodes = sandbox.watch.nodes.slice(0, 2).map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const config = {
    network: 'sandbox',
    upstreams: { chainData: service, metrics: service, nodes },
    watch: { chains: sandbox.watch.chains.slice(0, 1), nodeIds: sandbox.watch.nodeIds.slice(0, 1) },
    datasets: { metric_points: { metrics: ['txCount'], intervals: ['day'] }, chain_heights: { every: '5s' } },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
  const env = {
    DATABASE_URL: database.url,
    CHAIN_DATA_API_KEY: KEY,
    METRICS_API_KEY: KEY,
    RECORDER_PORT: String(port),
  };
  up = startCommand(['up'], env, dir);
});
afterAll(async () => {
  up.process.kill('SIGKILL');
  await agent.close();
  await sandbox.close();
});

interface Answer {
  /** 0: the connection was closed instead. */
  readonly code: number;
  /** Its Content-Type. */
  readonly type: string;
  /** Its redirect; empty: none. */
  readonly location: string;
  readonly body: string;
}

/** Sends a request with undici. An invalid request, and a closed connection, have code 0. */
async function sendRequest(path: string, options: Parameters<typeof request>[1] = {}): Promise<Answer> {
  try {
    const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}${path}`, {
      dispatcher: agent,
      ...options,
    });
    const location = String(headers.location ?? '');
    return { code: statusCode, type: String(headers['content-type']), location, body: await body.text() };
  } catch (error) {
    return { code: 0, type: '', location: '', body: String(error) };
  }
}

/** Sends bytes unchanged. @returns all that is received until the server closes */
async function sendBytes(bytes: string): Promise<Answer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.write(bytes);
  const body = await text(socket).catch(() => '');
  return { code: Number(/^HTTP\/1\.1 (\d+)/.exec(body)?.[1] ?? 0), type: '', location: '', body };
}

/** The number of probes in the ledger. */
async function countProbes(): Promise<number> {
  const [row] = await sql<
    { probes: number }[]
  >`select coalesce(sum(probes), 0)::int as probes from reporting_internal.node_probes`;
  return row?.probes ?? 0;
}

/** No internal error, no private text, and no unescaped input in the response. */
function expectHarmless(label: string, { code, type, body }: Answer): void {
  expect(code, `${label}: ${body.slice(0, 500)}`).not.toBe(500);
  expect(INDISCREET.exec(body)?.[0], label).toBeUndefined();
  if (type.startsWith('text/html')) expect(body.includes('<script>alert('), label).toBe(false);
}

/** A path with its parameters; `all`: every parameter is tested, not one in turn. */
interface Place {
  readonly path: string;
  readonly query: readonly string[];
  readonly all?: boolean;
}

/** Everything that the server serves: pages, operations, files, forms. */
async function places(): Promise<Place[]> {
  const { servers, paths, components } = described.parse(
    JSON.parse((await sendRequest('/openapi.json')).body),
  );
  return [
    ...Object.entries(paths).map(([path, { get }]) => ({
      path: `${servers[0]?.url}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      query: get.parameters.flatMap((one) => {
        const parameter = '$ref' in one ? components.parameters[String(one.$ref.split('/').at(-1))] : one;
        return parameter?.in === 'query' ? [parameter.name] : [];
      }),
    })),
    ...pages.map(({ path }) => ({ path, query: OF_PAGES, all: true })),
    { path: '/query.json', query: ['sql', 'as_of'], all: true },
    { path: '/query.csv', query: ['sql', 'as_of'], all: true },
    { path: '/badge/:file', query: ['range'], all: true },
    ...[
      '/query/names.json',
      '/assets/:name',
      '/status.logo',
      '/login',
      '/metrics',
      '/health',
      '/ready',
      '/api/status',
    ].map((path) => ({ path, query: ['to'] })),
  ];
}

/** Requests of pages. */
const OF_PAGES = [
  ...['sql', 'as_of', 'sort', 'after', 'limit', 'columns', 'node', 'chain_id', 'metric'],
  ...['from', 'to', 'target', 'of', 'beside', 'by', 'range', 'grain', 'year', 'probe'],
  ...['status', 'dataset', 'reason', 'check', 'state', 'before', 'until', 'queue'],
];

describe('a hostile client', () => {
  it('finds a running recorder', async () => {
    await Promise.race([
      expect.poll(async () => (await sendRequest('/ready')).code, { timeout: 50_000 }).toBe(200),
      up.ended.then(({ stderr }) => expect.fail(stderr)),
    ]);
    await expect.poll(countProbes, { timeout: 50_000 }).toBeGreaterThan(0);
  });

  it('exploits no parameter of any page or operation', async () => {
    const all = await places();
    expect(all.length).toBeGreaterThan(100);
    let number = 0;
    const paths = all.flatMap(({ path, query, all: each = false }) => {
      const payload = () => encodeURIComponent(String(PAYLOADS[number++ % PAYLOADS.length]).toWellFormed());
      const filled = path.replaceAll(/:\w+/g, payload);
      const some = query.filter((_, at) => each || at === number % query.length);
      return [
        ...(filled === path ? [] : [filled]),
        ...some.map((name) => `${path.replaceAll(/:\w+/g, 'validators')}?${name}=${payload()}`),
      ];
    });
    expect(paths.length).toBeGreaterThan(200);
    const codes = new Map<number, number>();
    for (let at = 0; at < paths.length; at += 8)
      await Promise.all(
        paths.slice(at, at + 8).map(async (path) => {
          const answer = await sendRequest(path);
          expectHarmless(path, answer);
          codes.set(answer.code, (codes.get(answer.code) ?? 0) + 1);
        }),
      );
    expect(
      [...codes.keys()].filter((code) => ![200, 302, 303, 400, 404, 414, 422, 431].includes(code)),
    ).toEqual([]);
  });

  it('exploits no header, method or body', async () => {
    const headers = [
      'authorization',
      'cookie',
      'accept',
      'if-none-match',
      'x-forwarded-for',
      'range',
      'referer',
      'origin',
    ];
    for (const name of headers)
      for (const value of PAYLOADS.filter((one) => /^[\x20-\x7e]+$/.test(one)))
        expectHarmless(
          `${name}: ${value.slice(0, 40)}`,
          await sendRequest('/api/v1/status', { headers: { [name]: value } }),
        );
    for (const path of ['/', '/query', '/api/v1/status', '/metrics', '/status'])
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'] as const) {
        const body = method === 'TRACE' ? null : `{"a":${'['.repeat(100_000)}`;
        const answer = await sendRequest(path, {
          method,
          body,
          headers: { 'content-type': 'application/json' },
        });
        expectHarmless(`${method} ${path}`, answer);
        expect(answer.code, `${method} ${path}`).not.toBe(200);
      }
    for (const path of ['/login', '/logout', '/theme'])
      for (const payload of PAYLOADS) {
        const value = encodeURIComponent(payload.toWellFormed());
        const answer = await sendRequest(path, {
          method: 'POST',
          body: `token=${value}&theme=${value}&to=${value}`,
          headers: { 'content-type': FORM },
        });
        expectHarmless(`POST ${path}: ${payload.slice(0, 40)}`, answer);
        expect([200, 303, 400, 401, 403, 404, 413, 429], `POST ${path}`).toContain(answer.code);
        expect(answer.location, `POST ${path}`).not.toMatch(/^(https?:)?\/\//);
      }
    const large = await sendRequest('/query', {
      method: 'POST',
      body: `sql=${'x'.repeat(20_000_000)}`,
      headers: { 'content-type': FORM },
    });
    expect([0, 403, 404, 405, 413]).toContain(large.code);
  });

  it.each([
    ['another host', 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', [403, 421, 400]],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
    [
      'another host before ours',
      'GET / HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
      [400, 403, 421],
    ],
    [
      'a way out of the folder',
      'GET /assets/../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
      [404, 403],
    ],
    [
      'a line too long',
      `GET /${'a'.repeat(200_000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      [414, 431, 400, 0],
    ],
    ['headers too large', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(200_000)}\r\n\r\n`, [431, 0]],
    [
      'two lengths',
      'POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400, 0],
    ],
    [
      'another host after ours',
      'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      [400, 403, 421],
    ],
    [
      'a host in its address',
      'GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
      [400, 403, 404, 421],
    ],
    ['too many headers', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${'X: y\r\n'.repeat(20_000)}\r\n`, [431, 0]],
    ['a tunnel', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n', [0, 400, 404, 405]],
    ['no HTTP at all', '\u0016\u0003\u0001\u0000\u0005hello\r\n\r\n', [400, 0]],
  ])('is refused with %s', async (_, bytes, codes) => {
    const answer = await sendBytes(bytes);
    expectHarmless(bytes.slice(0, 60), answer);
    expect(codes, JSON.stringify(answer).slice(0, 300)).toContain(answer.code);
  });

  it.each([
    [2_200, 'send nothing', ''],
    [2_200, 'never end their headers', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
    [
      2_200,
      'never end their body',
      `POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${FORM}\r\nContent-Length: 9\r\n\r\na`,
    ],
    [200, 'send many requests at once', 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(50)],
  ])('does not stop monitoring with %i connections that %s', async (count, _, bytes) => {
    const sockets: Socket[] = [];
    for (let number = 0; number < count; number++) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      socket.write(bytes);
    }
    await Promise.allSettled(sockets.map((socket) => once(socket, 'connect')));
    const watcher = new Agent({ headersTimeout: 5_000 });
    for (const path of ['/health', '/ready', '/metrics'])
      await expect
        .poll(async () => (await sendRequest(path, { dispatcher: watcher })).code, { message: path })
        .toBe(200);
    await watcher.destroy();
    for (const socket of sockets) socket.destroy();
  });

  it('is a finding with more connections than the server accepts', async () => {
    await expect
      .poll(async () => (await sendRequest('/api/status')).body, { timeout: 30_000 })
      .toContain('the server reached its maximum of connections');
  });

  it('delays nothing with five hundred requests at once, beside connections that never end their request', async () => {
    const idle = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
        return socket;
      }),
    );
    const before = await countProbes();
    const heavy = [
      '/',
      '/status',
      '/runs',
      '/datasets/node_validators',
      '/query?sql=select+pg_sleep(0.3)',
      '/api/v1/datasets/node_validators/rows',
    ];
    const crowd = new Agent({ connections: 500 });
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, at) =>
        sendRequest(String(heavy[at % heavy.length]), { dispatcher: crowd }),
      ),
    );
    await crowd.close();
    for (const [at, answer] of answers.entries()) expectHarmless(String(heavy[at % heavy.length]), answer);
    expect(
      [...new Set(answers.map(({ code }) => code))].filter((code) => ![200, 503, 504].includes(code)),
    ).toEqual([]);
    expect(answers.some(({ code }) => code === 200)).toBe(true);
    await expect.poll(countProbes, { timeout: 30_000 }).toBeGreaterThan(before);
    for (const socket of idle) socket.destroy();
  });

  it('did not interrupt the recording', async () => {
    const failed = await sql`
      select source, status, error from recorder.runs where status not in ('done', 'running', 'unsupported')`;
    expect([...failed]).toEqual([]);
    const down = await sql`select * from reporting.node_health where state <> 'up'`;
    expect([...down]).toEqual([]);
    expect((await sendRequest('/ready')).code).toBe(200);
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain(KEY);
  });
});
