import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/db/free-port.ts';
import { readHealth } from '../../src/health/health-reading.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import { failureOfError } from '../../src/upstreams/classify-failure.ts';
import { examineNode } from '../../src/upstreams/examine-node.ts';
import { type FailureKind, failureTable, UpstreamFailure } from '../../src/upstreams/failure.ts';
import { unmetered } from '../../src/upstreams/unmetered.ts';
import { UpstreamSession } from '../../src/upstreams/upstream.ts';
import { onPath } from '../support/on-path.ts';
import { rawServer, type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

/** One combination of the table, and the state that the table demands. */
interface Case {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly state: 'up' | 'down' | 'unknown';
  readonly name: string;
}

const BODIES = {
  'a healthy report': '{"checks":{"C":{"timestamp":"2026-01-01T00:00:00Z"}},"healthy":true}',
  'an unhealthy report': '{"checks":{"C":{"error":"late"}},"healthy":false}',
  'an empty body': '',
  'a page': '<html><body>Log in</body></html>',
  'other JSON': '{"status":"ok","healthy":"yes"}',
  'a JSON-RPC error': '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not available"}}',
  'half a report': '{"checks":{"C":{"timest',
};
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'application/json; charset=utf-8' },
  {
    'content-type': 'application/json',
    'retry-after': '3600',
    location: '/login',
    'www-authenticate': 'Basic',
    via: '1.1 proxy',
  },
];
/** A report of another type is no report. */
const PAGE_TYPE = { 'content-type': 'text/html' };
const STATUSES = [
  ...[200, 201, 202, 204, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 407],
  ...[408, 410, 418, 429, 451, 500, 501, 502, 503, 504, 511, 520],
];

/** The rule, written from the requirement and not from the code. */
function demanded(status: number, body: keyof typeof BODIES, type: string): Case['state'] {
  const counts = (status < 300 && status !== 204) || (status >= 500 && status !== 511);
  if (counts && /json/.test(type) && body === 'a healthy report') return 'up';
  if (counts && /json/.test(type) && body === 'an unhealthy report') return 'down';
  return status >= 500 && status !== 511 ? 'down' : 'unknown';
}

const names = Object.keys(BODIES).filter((name): name is keyof typeof BODIES => name in BODIES);
const caseOf = (status: number, body: keyof typeof BODIES, headers: Case['headers']): Case => ({
  status,
  body: BODIES[body],
  headers,
  state: demanded(status, body, headers['content-type'] ?? ''),
  name: `${status} with ${body} and ${JSON.stringify(headers)}`,
});
const cases: readonly Case[] = STATUSES.flatMap((status) => [
  ...names.flatMap((body) => HEADERS.map((headers) => caseOf(status, body, headers))),
  caseOf(status, 'a healthy report', PAGE_TYPE),
]);

let server: UpstreamServer;
beforeAll(async () => {
  // Each case is a path below which everything is answered alike.
  server = await upstreamServer(({ url }, response) => {
    const one = cases[Number(url.pathname.split('/')[1])];
    if (!one) return response.destroy();
    response.writeHead(one.status, one.headers).end(one.body);
  });
});
afterAll(() => server.close());

function session(url: string, deadline = 20_000): UpstreamSession {
  return new UpstreamSession(
    { name: 'node', url, headers: {}, redact: (text) => text, budget: unmetered, deadline, maxBytes: 1e6 },
    { weight: 0, priority: 'poll', signal: new AbortController().signal, clock: Date.now },
  );
}

/** What the probe of a node says. */
async function probed(url: string, deadline?: number) {
  const target = { observer: 'o', node: 'n', probe: 'health' };
  for await (const { body } of nodeHealth.source.walk(session(url, deadline), target, null))
    return readHealth(body);
  throw new Error('no page');
}

/** The failure of a run, which calls a method; null: the run succeeds. */
async function ran(url: string, deadline?: number): Promise<UpstreamFailure | null> {
  const error = await session(url, deadline)
    .rpc('/ext/info', 'info.getNetworkID')
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  if (error !== null && !(error instanceof UpstreamFailure)) throw error;
  return error;
}

/** What `doctor` says of the health API of a node whose other APIs answer alike. */
async function examined(url: string, timeout = 20_000): Promise<string> {
  const { checked } = await examineNode(
    {
      name: 'nodes/n',
      url,
      setting: 'upstreams.nodes[0].url',
      kind: 'node',
      key: null,
      headers: {},
      timeout,
      redact: (text) => text,
      signal: new AbortController().signal,
    },
    { network: 'mainnet', apis: new Set(['health']) },
  );
  return checked.map(({ found }) => found).join('\n');
}

/** Calls the function for each case, some at a time. */
async function some<T>(call: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) results[at] = await call(at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
const AT_ONCE = 60;

describe('the table of answers', () => {
  it(`of ${cases.length} combinations holds for probes, in state and words`, async () => {
    const seen = await some((at) => probed(`${server.url}/${at}`));
    const wrong = seen.flatMap((reading, at) => {
      const { state, status, name } = cases[at] ?? {};
      const isNamed = reading.checks !== null || String(reading.error).includes(`HTTP ${status}`);
      return reading.state === state && isNamed ? [] : [{ name, state, reading }];
    });
    expect(wrong).toEqual([]);
  });

  it('holds for runs: the same status in words, and a kind with the state of the table', async () => {
    const failures = await some((at) => ran(`${server.url}/${at}`));
    const wrong = failures.flatMap((failure, at) => {
      const { status = 0, name } = cases[at] ?? {};
      // A run needs no health report: for it a report is as wrong as any other body.
      const state = status >= 500 && status !== 511 ? 'down' : 'unknown';
      const isAlike =
        failure !== null &&
        failureTable[failure.kind].probe === state &&
        (status < 300 || failure.message.includes(`HTTP ${status}`));
      return isAlike ? [] : [{ name, failure }];
    });
    expect(wrong).toEqual([]);
  });

  it('holds for doctor where only the health API answers so: it says what probes record', async () => {
    const mixed = await upstreamServer(({ url, body }, response) => {
      const one = cases[Number(url.pathname.split('/')[1])];
      if (!one) return response.destroy();
      if (!url.pathname.endsWith('/ext/info'))
        return response.writeHead(one.status, one.headers).end(one.body);
      const { id, method } = JSON.parse(body);
      const result = method === 'info.getNetworkID' ? { networkID: '1' } : { isBootstrapped: true };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const found = await some((at) => examined(`${mixed.url}/${at}`));
    await mixed.close();
    const wrong = found.flatMap((text, at) => {
      const { name, state, body } = cases[at] ?? {};
      const isReport = state === 'up' || (state === 'down' && body === BODIES['an unhealthy report']);
      const recorded = /probes record the node as (\w+)/.exec(text)?.[1] ?? 'none';
      return recorded === state || (isReport && recorded === 'none') ? [] : [{ name, state, text }];
    });
    expect(wrong).toEqual([]);
  });
});

/** A failure without an answer: the URL that leads to it, and what has to be said. */
interface Failing {
  readonly name: string;
  readonly state: 'down' | 'unknown';
  readonly words: RegExp;
  url(): Promise<string>;
}

const closers: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

async function raw(answer: Parameters<typeof rawServer>[0]): Promise<string> {
  const one = await rawServer(answer);
  closers.push(one.close);
  return one.url;
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const failing: readonly Failing[] = [
  {
    name: 'a refused connection',
    state: 'down',
    words: /ECONNREFUSED/,
    url: async () => `http://127.0.0.1:${await freePort()}`,
  },
  {
    name: 'a reset',
    state: 'down',
    words: /ECONNRESET|UND_ERR_SOCKET/,
    url: () => raw((s) => s.resetAndDestroy()),
  },
  {
    name: 'an end without an answer',
    state: 'down',
    words: /UND_ERR_SOCKET/,
    url: () => raw((s) => s.end()),
  },
  {
    name: 'an end within the body, by its length',
    state: 'down',
    words: /UND_ERR/,
    url: () => raw((s) => s.end(`${head}Content-Length: 100\r\n\r\n{"a`)),
  },
  {
    name: 'an end within the body, in chunks',
    state: 'down',
    words: /UND_ERR/,
    url: () => raw((s) => s.end(`${head}Transfer-Encoding: chunked\r\n\r\n60\r\n{"a`)),
  },
  { name: 'silence', state: 'down', words: /within 400 ms/, url: () => raw(() => {}) },
  {
    name: 'silence within the body',
    state: 'down',
    words: /within 400 ms/,
    url: () => raw((s) => s.write(`${head}Content-Length: 100\r\n\r\n{"a`)),
  },
  {
    name: 'a refusal whose body breaks off',
    state: 'unknown',
    words: /HTTP 401/,
    url: () =>
      raw((s) => s.end('HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nno')),
  },
  {
    name: 'a failure of the node whose body is no gzip',
    state: 'down',
    words: /HTTP 503/,
    url: () =>
      raw((s) =>
        s.end(
          'HTTP/1.1 503 No\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone',
        ),
      ),
  },
  {
    name: 'another protocol',
    state: 'unknown',
    words: /the answer is not HTTP/,
    url: () => raw((s) => s.end('SSH-2.0-OpenSSH\r\n')),
  },
  {
    name: 'TLS that is not spoken there',
    state: 'unknown',
    words: /TLS/,
    url: async () => server.url.replace('http:', 'https:'),
  },
  {
    name: 'a name that does not exist',
    state: 'unknown',
    words: /ENOTFOUND|EAI_AGAIN|no host is called|looked up/,
    url: async () => 'http://node.invalid:9650',
  },
];

describe('a call without a usable answer', () => {
  it.each(failing)('by $name is $state for probes, runs and doctor', async ({ state, words, url }) => {
    const at = await url();
    const [reading, failure, found] = await Promise.all([probed(at, 400), ran(at, 400), examined(at, 400)]);
    expect(reading).toMatchObject({ state, error: expect.stringMatching(words) });
    expect(failure?.message).toMatch(words);
    expect(failure && failureTable[failure.kind].probe).toBe(state);
    expect(found).toMatch(/^http/);
  });

  it.skipIf(!onPath('openssl'))('by a certificate that nothing trusts is unknown', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'answers-'));
    const subject = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=itself', '-days', '2'];
    execFileSync('openssl', [...subject, '-keyout', 'key', '-out', 'cert'], { cwd: dir, stdio: 'pipe' });
    const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(dir, name)));
    const secure = createTlsServer({ key, cert }, (_, response) => response.end('{"healthy":true}'));
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const { port } = secure.address() as AddressInfo;
    const at = `https://127.0.0.1:${port}`;
    expect(await probed(at)).toMatchObject({
      state: 'unknown',
      error: 'the TLS handshake failed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(await ran(at)).toMatchObject({ kind: 'tls' });
    expect(await examined(at)).toContain('self-signed');
    secure.close();
    rmSync(dir, { recursive: true });
  });

  const KINDS: Readonly<Record<string, FailureKind>> = {
    ...{ ECONNREFUSED: 'refused', ECONNRESET: 'reset', EPIPE: 'reset', ECONNABORTED: 'reset' },
    ...{ ETIMEDOUT: 'timeout', UND_ERR_CONNECT_TIMEOUT: 'timeout', EHOSTUNREACH: 'unreachable' },
    ...{ EHOSTDOWN: 'unreachable', ENETUNREACH: 'local', ENETDOWN: 'local', EADDRNOTAVAIL: 'local' },
    ...{ EMFILE: 'local', EACCES: 'local', EPERM: 'local', ENOBUFS: 'local', UND_ERR_SOMETHING_NEW: 'local' },
    ...{ ENOTFOUND: 'dns', EAI_AGAIN: 'dns', EAI_FAIL: 'dns', EAI_NODATA: 'dns', ESERVFAIL: 'dns' },
    ...{ CERT_HAS_EXPIRED: 'tls', CERT_NOT_YET_VALID: 'tls', CERT_REVOKED: 'tls', CRL_HAS_EXPIRED: 'tls' },
    ...{ ERR_TLS_CERT_ALTNAME_INVALID: 'tls', HOSTNAME_MISMATCH: 'tls', INVALID_CA: 'tls', EPROTO: 'tls' },
    ...{ UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls', ERR_SSL_WRONG_VERSION_NUMBER: 'tls', OUT_OF_MEM: 'tls' },
    ...{ HPE_INVALID_CONSTANT: 'malformed', Z_DATA_ERROR: 'malformed' },
  };
  it.each(Object.entries(KINDS))('with the code %s is of the kind %s, and names the code', (code, kind) => {
    const cause = Object.assign(new Error('http://secret/'), { code });
    const failure = failureOfError(new TypeError('fetch failed', { cause }));
    expect(failure).toMatchObject({ kind, code, message: expect.stringContaining(`(${code})`) });
    expect(failure.message).not.toContain('secret');
  });
});
