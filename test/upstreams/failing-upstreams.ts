import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { onPath } from '../support/on-path.ts';
import { rawServer } from '../support/upstream-server.ts';

/** A failure without a response: the URL that causes it, and the expected message. */
export interface FailingUpstream {
  /** Timeout of a call, in ms. Default: long enough for a slow machine. */
  readonly deadline?: number;
  readonly name: string;
  readonly state: 'down' | 'unknown';
  readonly message: RegExp;
  /** The cause that `doctor` reports. */
  readonly doctor?: RegExp;
  url(): Promise<string>;
}

const closers: (() => Promise<void> | void)[] = [];

/** Closes the servers that {@link failingUpstreams} started. */
export async function closeFailingUpstreams(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}

async function startRawServer(answer: Parameters<typeof rawServer>[0]): Promise<string> {
  const one = await rawServer(answer);
  closers.push(one.close);
  return one.url;
}

/** A TLS server with a certificate of its own. @param validity first and last moment, as `openssl ca` reads them */
async function startTlsServer(...[from, to]: readonly [string, string]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'answers-'));
  const runOpenssl = (...parameters: string[]) =>
    execFileSync('openssl', parameters, { cwd: dir, stdio: 'pipe' });
  runOpenssl(...'req -newkey rsa:2048 -nodes -subj /CN=itself -keyout key -out request'.split(' '));
  writeFileSync(join(dir, 'issued'), '');
  writeFileSync(
    join(dir, 'ca'),
    '[ca]\ndefault_ca=d\n[d]\ndatabase=issued\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n',
  );
  runOpenssl(
    ...`ca -batch -config ca -selfsign -keyfile key -in request -out cert -notext -startdate ${from} -enddate ${to}`.split(
      ' ',
    ),
  );
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(dir, name)));
  rmSync(dir, { recursive: true });
  const secure = createTlsServer({ key, cert }, (_, response) => response.end('{"healthy":true}'));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    secure.close();
  });
  const address = secure.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `https://127.0.0.1:${address.port}`;
}

const [PAST, RECENT, SOON, FUTURE] = [
  '20000101000000Z',
  '20010101000000Z',
  '20900101000000Z',
  '20910101000000Z',
] as const;
const CERTIFICATES: readonly FailingUpstream[] = (
  [
    ['that nothing trusts', /is self-signed/, 'DEPTH_ZERO_SELF_SIGNED_CERT', PAST, FUTURE],
    ['that has expired', /has expired/, 'CERT_HAS_EXPIRED', PAST, RECENT],
    ['that is not valid yet', /is not valid yet/, 'CERT_NOT_YET_VALID', SOON, FUTURE],
  ] as const
).map(([which, doctor, code, from, to]) => ({
  doctor,
  name: `a certificate ${which}`,
  state: 'unknown',
  message: new RegExp(`TLS handshake failed \\(${code}\\)`),
  url: () => startTlsServer(from, to),
}));

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
/** Failures of connections, of TLS and of the name lookup, each from a real server if possible. */
export const failingUpstreams: readonly FailingUpstream[] = [
  {
    name: 'a refused connection',
    state: 'down',
    message: /ECONNREFUSED/,
    url: async () => `http://127.0.0.1:${await findFreePort()}`,
  },
  {
    name: 'a reset',
    state: 'down',
    message: /ECONNRESET|UND_ERR_SOCKET/,
    url: () => startRawServer((s) => s.resetAndDestroy()),
  },
  {
    name: 'an end without an answer',
    state: 'down',
    message: /UND_ERR_SOCKET/,
    url: () => startRawServer((s) => s.end()),
  },
  {
    name: 'an end within the body, by its length',
    state: 'down',
    message: /UND_ERR/,
    url: () => startRawServer((s) => s.end(`${head}Content-Length: 100\r\n\r\n{"a`)),
  },
  {
    name: 'an end within the body, in chunks',
    state: 'down',
    message: /UND_ERR/,
    url: () => startRawServer((s) => s.end(`${head}Transfer-Encoding: chunked\r\n\r\n60\r\n{"a`)),
  },
  {
    name: 'silence',
    state: 'down',
    message: /within 400 ms/,
    deadline: 400,
    url: () => startRawServer(() => {}),
  },
  {
    name: 'silence within the body',
    state: 'down',
    message: /within 400 ms/,
    deadline: 400,
    url: () => startRawServer((s) => s.write(`${head}Content-Length: 100\r\n\r\n{"a`)),
  },
  {
    name: 'a refusal whose body breaks off',
    state: 'unknown',
    message: /HTTP 401/,
    url: () =>
      startRawServer((s) =>
        s.end('HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nno'),
      ),
  },
  {
    name: 'a failure of the node whose body is no gzip',
    state: 'down',
    message: /HTTP 503/,
    url: () =>
      startRawServer((s) =>
        s.end(
          'HTTP/1.1 503 No\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone',
        ),
      ),
  },
  {
    name: 'another protocol',
    state: 'unknown',
    message: /the answer is not HTTP/,
    url: () => startRawServer((s) => s.end('SSH-2.0-OpenSSH\r\n')),
  },
  {
    name: 'TLS that is not spoken there',
    state: 'unknown',
    message: /TLS/,
    url: () =>
      startRawServer((s) => s.end(`${head}Content-Length: 0\r\n\r\n`)).then((url) =>
        url.replace('http:', 'https:'),
      ),
  },
  {
    name: 'a name that does not exist',
    state: 'unknown',
    message: /ENOTFOUND|EAI_AGAIN|cannot be resolved/,
    url: async () => 'http://node.invalid:9650',
  },
  ...(onPath('openssl') ? CERTIFICATES : []),
];
