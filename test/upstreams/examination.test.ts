import { afterEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import type { CheckedUpstream } from '../../src/upstreams/examination.ts';
import { checkNode } from '../../src/upstreams/examine-node.ts';
import { checkService } from '../../src/upstreams/examine-service.ts';
import { type Received, sendJson, withServers } from '../support/upstream-server.ts';

const KEY = 'canary-7c1d9e4b';
const { serve, serveRaw } = withServers(afterEach);

const startServer = async (handler: Parameters<typeof serve>[0]) => (await serve(handler)).url;

const checkedUpstream = (url: string, more: Partial<CheckedUpstream> = {}): CheckedUpstream => ({
  name: 'metrics',
  url,
  setting: 'upstreams.metrics.url',
  kind: 'service',
  key: { variable: 'METRICS_API_KEY', header: undefined, set: false },
  headers: {},
  timeout: 2_000,
  redact: (text) => text.replaceAll(KEY, '[redacted]'),
  signal: new AbortController().signal,
  ...more,
});
const withKey = (header: string) => ({
  key: { variable: 'METRICS_API_KEY', header, set: true },
  headers: { [header]: KEY },
});

const query = {
  path: '/v2/chains/43114/metrics/txCount',
  list: 'results',
  about: { what: 'the chain 43114', setting: 'watch.chains[0]' },
};

/** The result of a service's check, and its fix. */
async function examineService(url: string, more: Partial<CheckedUpstream> = {}) {
  const { checked } = await checkService(checkedUpstream(url, more), [query]);
  return checked;
}

/** A healthy service, below a path. */
const respond =
  (base = '') =>
  ({ url }: Received, response: Parameters<typeof sendJson>[0]) =>
    url.pathname === base + query.path
      ? sendJson(response, { results: [] })
      : sendJson(
          response,
          { message: `Cannot GET ${url.pathname}`, error: 'Not Found', statusCode: 404 },
          404,
        );

describe('a service', () => {
  it('that responds is healthy', async () => {
    expect(await examineService(await startServer(respond()))).toEqual([
      { check: 'metrics', ok: true, found: expect.stringMatching(/^http.* answered in \d+ ms$/) },
    ]);
  });

  it.each(['/v2', '/v2/chains', '/v1'])(
    'whose URL is too long (%s) gets the URL that responds',
    async (path) => {
      const url = await startServer(respond());
      expect(await examineService(url + path)).toMatchObject([
        {
          ok: false,
          found: expect.stringContaining(`there is no ${path}${query.path}`),
          fix: `set upstreams.metrics.url to ${url}, where the API responds`,
        },
      ]);
    },
  );

  it('whose URL lacks the path of its gateway', async () => {
    const url = await startServer(respond('/gateway/metrics'));
    expect(await examineService(url)).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining('there is no /v2/chains'),
        fix: expect.stringContaining('it has the path of the gateway'),
      },
    ]);
    expect(await examineService(`${url}/gateway/metrics`)).toMatchObject([{ ok: true }]);
    expect(await examineService(`${url}/gateway/metrics/gateway/metrics`)).toMatchObject([
      { ok: false, fix: `set upstreams.metrics.url to ${url}/gateway/metrics, where the API responds` },
    ]);
  });

  it('that speaks http and is called by https', async () => {
    const url = await startServer(respond());
    expect(await examineService(url.replace('http:', 'https:'))).toMatchObject([
      {
        ok: false,
        found: expect.stringMatching(/does not support TLS$/),
        fix: `set upstreams.metrics.url to ${url}, where the API responds`,
      },
    ]);
  });

  it.each([401, 403])('that requires a key which is not set (%i)', async (status) => {
    const url = await startServer((_, response) =>
      sendJson(response, { message: 'no key', statusCode: status }, status),
    );
    expect(await examineService(url)).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining(`requires a key, and none is set (${status}: "no key")`),
        fix: expect.stringContaining('set METRICS_API_KEY to your key, and upstreams.metrics.apiKeyHeader'),
      },
    ]);
  });

  it('whose key is set and not sent, also if it responds without one', async () => {
    const key = { variable: 'METRICS_API_KEY', header: undefined, set: true };
    expect(await examineService(await startServer(respond()), { key })).toMatchObject([
      {
        ok: false,
        found: 'METRICS_API_KEY is set and not sent, because upstreams.metrics.apiKeyHeader is missing',
      },
      { ok: true },
    ]);
  });

  it('that refuses the key, which is not printed', async () => {
    const url = await startServer((_, response) =>
      sendJson(response, { message: `bad key ${KEY}`, statusCode: 401 }, 401),
    );
    const checked = await examineService(url, withKey('x-key'));
    expect(checked).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining('refuses the key that was sent in x-key (401: "bad key [redacted]")'),
        fix: expect.stringContaining('correct METRICS_API_KEY'),
      },
    ]);
  });

  it('that accepts the key in another header', async () => {
    const url = await startServer(({ headers, ...request }, response) =>
      headers['x-glacier-api-key'] === KEY
        ? respond()({ headers, ...request }, response)
        : sendJson(response, { message: 'no key', statusCode: 401 }, 401),
    );
    expect(await examineService(url, withKey('x-key'))).toMatchObject([
      {
        ok: false,
        fix: 'set upstreams.metrics.apiKeyHeader to x-glacier-api-key: the service accepts the key in that header',
      },
    ]);
  });

  it('that limits calls', async () => {
    const url = await startServer((_, response) => {
      response.setHeader('retry-after', '42');
      sendJson(response, { message: 'slow down', statusCode: 429 }, 429);
    });
    expect(await examineService(url)).toMatchObject([
      {
        ok: false,
        found: expect.stringMatching(/429: too many calls; it requires a pause of 42 s$/),
        fix: expect.stringContaining('upstreams.metrics.budget'),
      },
    ]);
  });

  it('that redirects to the URL that responds, without sending its key there', async () => {
    const keys: unknown[] = [];
    const target = await startServer(({ headers, ...request }, response) => {
      keys.push(headers['x-key']);
      respond()({ headers, ...request }, response);
    });
    const url = await startServer(({ url }, response) =>
      response.writeHead(308, { location: target + url.pathname }).end(),
    );
    expect(await examineService(url, withKey('x-key'))).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining(`redirects (308) to ${target}${query.path}`),
        fix: `set upstreams.metrics.url to ${target}, where the API responds`,
      },
    ]);
    expect(keys).toEqual([undefined]);
  });

  it('behind a proxy that responds with a page', async () => {
    const url = await startServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Log in</h1>'),
    );
    expect(await examineService(url)).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining('a web page instead of JSON (200)'),
        fix: expect.stringContaining('which needs no login'),
      },
    ]);
  });

  it('that does not know a watched chain is queried for the others, too', async () => {
    const url = await startServer(({ url }, response) =>
      url.pathname.includes('/43114/')
        ? sendJson(response, { results: [] })
        : sendJson(response, { message: 'Chain 99 not found', error: 'Not Found', statusCode: 404 }, 404),
    );
    const other = {
      ...query,
      path: '/v2/chains/99/metrics/txCount',
      about: { what: 'the chain 99', setting: 'watch.chains[1]' },
    };
    const { checked } = await checkService(checkedUpstream(url), [query, other]);
    expect(checked).toMatchObject([
      {
        ok: false,
        found: `${url}: the chain 99 is unknown to the service (404: "Chain 99 not found")`,
        fix: 'correct watch.chains[1], or remove the id',
      },
      { ok: true },
    ]);
  });

  it('that is another API than configured', async () => {
    const url = await startServer((_, response) => sendJson(response, { hello: 'world' }));
    expect(await examineService(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('an answer without "results"') },
    ]);
  });

  it('that fails itself', async () => {
    const url = await startServer((_, response) =>
      response.writeHead(502, { 'content-type': 'text/plain' }).end('bad gateway\u001b[2J'),
    );
    expect(await examineService(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('has an internal error (502') },
    ]);
  });

  it('that does not respond in time', async () => {
    const url = await startServer(() => {});
    expect(await examineService(url, { timeout: 200 })).toMatchObject([
      {
        ok: false,
        found: expect.stringMatching(/sent no complete response within 0.2 s$/),
        fix: expect.stringContaining('upstreams.metrics.timeout'),
      },
    ]);
  });

  it('at whose port another protocol is spoken', async () => {
    const other = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(await examineService(other.url)).toMatchObject([
      { ok: false, found: expect.stringContaining('is not HTTP') },
    ]);
  });

  it('whose host does not exist', async () => {
    expect(await examineService('http://no-such-host.invalid')).toMatchObject([
      {
        ok: false,
        found: expect.stringMatching(/the host name no-such-host.invalid cannot be resolved/),
      },
    ]);
  });

  it('whose clock differs from ours', async () => {
    const url = await startServer((request, response) => {
      response.setHeader('date', new Date(Date.now() + 600_000).toUTCString());
      respond()(request, response);
    });
    const { skew } = await checkService(checkedUpstream(url), [query]);
    expect(skew).toBeGreaterThan(590_000);
  });
});

/** A node's responses by method; other methods do not exist. */
const respondAsNode =
  (
    results: Readonly<Record<string, unknown>>,
    paths = ['/ext/info', '/ext/bc/P', '/ext/bc/X', '/ext/health'],
  ) =>
  ({ url, body }: Received, response: Parameters<typeof sendJson>[0]) => {
    if (!paths.includes(url.pathname)) return response.writeHead(404).end();
    if (url.pathname === '/ext/health') return sendJson(response, { healthy: false, checks: {} }, 503);
    const method: unknown = JSON.parse(body).method;
    const result = results[String(method)];
    return sendJson(
      response,
      result === undefined
        ? { jsonrpc: '2.0', id: 1, error: { code: -32000, message: `method not available` } }
        : { jsonrpc: '2.0', id: 1, result },
    );
  };
const HEALTHY_RESULTS = {
  'info.getNetworkID': { networkID: '1' },
  'info.isBootstrapped': { isBootstrapped: true },
  'platform.getCurrentSupply': { supply: '1' },
  'avm.getHeight': { height: '1' },
};
const apis = new Set(['info', 'platform', 'avm', 'health'] as const);

async function examineNode(url: string) {
  const upstream = checkedUpstream(url, {
    name: 'nodes/one',
    setting: 'upstreams.nodes[0].url',
    kind: 'node',
    key: null,
  });
  return (await checkNode(upstream, { network: 'mainnet', apis })).checked;
}

describe('a node', () => {
  it('that responds is healthy, also while its health report is unhealthy', async () => {
    expect(await examineNode(await startServer(respondAsNode(HEALTHY_RESULTS)))).toEqual([
      { check: 'nodes/one', ok: true, found: expect.stringContaining('answered in') },
    ]);
  });

  it.each(['/ext/bc/P', '/ext/info', '/ext'])('whose URL is too long (%s)', async (path) => {
    const url = await startServer(respondAsNode(HEALTHY_RESULTS));
    expect(await examineNode(url + path)).toMatchObject([
      { ok: false, fix: `set upstreams.nodes[0].url to ${url}, where the API responds` },
    ]);
  });

  it('at whose port nothing listens', async () => {
    const port = await findFreePort();
    expect(await examineNode(`http://127.0.0.1:${port}`)).toMatchObject([
      {
        ok: false,
        found: `http://127.0.0.1:${port}/ext/info: nothing listens on 127.0.0.1:${port}`,
        fix: expect.stringContaining('port 9650'),
      },
    ]);
  });

  it('at whose port a server closes the connection', async () => {
    const { url } = await serveRaw((socket) => socket.destroy());
    expect(await examineNode(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('closed the connection without an answer') },
    ]);
  });

  it('of another network than the configuration', async () => {
    const url = await startServer(
      respondAsNode({ ...HEALTHY_RESULTS, 'info.getNetworkID': { networkID: '5' } }),
    );
    expect(await examineNode(url)).toMatchObject([
      {
        ok: false,
        found: `${url}: the node belongs to the network fuji, and the configured network is mainnet`,
        fix: 'set network to fuji, or upstreams.nodes[0].url to a node of mainnet',
      },
    ]);
  });

  it('of a network of its own', async () => {
    const url = await startServer(
      respondAsNode({ ...HEALTHY_RESULTS, 'info.getNetworkID': { networkID: '12345' } }),
    );
    expect(await examineNode(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('the network with the id 12345') },
    ]);
  });

  it('that is still bootstrapping', async () => {
    const url = await startServer(
      respondAsNode({ ...HEALTHY_RESULTS, 'info.isBootstrapped': { isBootstrapped: false } }),
    );
    expect(await examineNode(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('is not bootstrapped') },
    ]);
  });

  it('that refuses calls of a chain until it is bootstrapped', async () => {
    const url = await startServer((request, response) =>
      request.url.pathname === '/ext/bc/P'
        ? response
            .writeHead(503, { 'content-type': 'text/plain' })
            .end('API call rejected because chain is not done bootstrapping')
        : respondAsNode(HEALTHY_RESULTS)(request, response),
    );
    expect(await examineNode(url)).toMatchObject([
      { ok: false, found: expect.stringContaining('/ext/bc/P: the node is not bootstrapped yet') },
    ]);
  });

  it.each([
    ['health', '/ext/health', '--api-health-enabled=true'],
    ['info', '/ext/info', '--api-info-enabled=true'],
  ])('whose %s API is off', async (name, path, fix) => {
    const paths = ['/ext/info', '/ext/bc/P', '/ext/bc/X', '/ext/health'].filter((one) => one !== path);
    const url = await startServer(respondAsNode(HEALTHY_RESULTS, paths));
    expect(await examineNode(url)).toMatchObject([
      {
        ok: false,
        found: expect.stringContaining(`${url}${path}: the node does not offer the ${name} API`),
        fix: expect.stringContaining(fix),
      },
    ]);
  });

  it('without the X-chain needs no fix', async () => {
    const { 'avm.getHeight': _, ...others } = HEALTHY_RESULTS;
    expect(await examineNode(await startServer(respondAsNode(others)))).toMatchObject([
      { ok: true, found: expect.stringContaining('answered') },
      { ok: true, found: expect.stringContaining('does not offer the X-chain API') },
    ]);
  });

  it.each([
    { code: -32601, message: 'Unknown' },
    { code: -32601, message: 'Method not found' },
    { code: -32000, message: 'this method is deprecated' },
    { code: -32000, message: 'rpc: can\'t find service "platform"' },
  ])(
    'that does not support a method is reported as in runs, however its error is phrased: %j',
    async (error) => {
      const answer = respondAsNode(HEALTHY_RESULTS);
      const url = await startServer((request, response) =>
        request.url.pathname === '/ext/bc/P'
          ? sendJson(response, { jsonrpc: '2.0', id: 1, error })
          : answer(request, response),
      );
      const texts = (await examineNode(url)).map((one) => one.found).join('; ');
      expect(texts).toMatch(/does not offer/);
      expect(texts).not.toMatch(/does not respond like this API/);
    },
  );

  it('that refuses its host name', async () => {
    const url = await startServer((_, response) =>
      response.writeHead(403, { 'content-type': 'text/plain' }).end('invalid host specified'),
    );
    const named = url.replace('127.0.0.1', 'localhost');
    expect(await examineNode(named)).toMatchObject([
      { ok: false, fix: expect.stringContaining('--http-allowed-hosts=localhost') },
    ]);
  });
});
