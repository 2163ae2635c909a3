import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/db/free-port.ts';
import { failureOfError } from '../../src/upstreams/classify-failure.ts';
import { type FailureKind, failureTable } from '../../src/upstreams/failure.ts';
import { onPath } from '../support/on-path.ts';
import { rawServer, type UpstreamServer } from '../support/upstream-server.ts';
import { answeringServer, cases, examined, probed, ran, some } from './answer-table.ts';

let server: UpstreamServer;
beforeAll(async () => {
  server = await answeringServer();
});
afterAll(() => server.close());

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
  // Most of the time is the wait between two tries: the cases wait together.
  it.concurrent.each(failing)(
    'by $name is $state for probes, runs and doctor',
    async ({ state, words, url }) => {
      const at = await url();
      const [reading, failure, found] = await Promise.all([probed(at, 400), ran(at, 400), examined(at, 400)]);
      expect(reading).toMatchObject({ state, error: expect.stringMatching(words) });
      expect(failure?.message).toMatch(words);
      expect(failure && failureTable[failure.kind].probe).toBe(state);
      expect(found).toMatch(/^http/);
    },
  );

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
