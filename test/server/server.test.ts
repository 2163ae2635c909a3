import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { ReadGate } from '../../src/db/read-gate.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Access } from '../../src/server/access.ts';
import { ProcessCounts } from '../../src/server/metrics/process-counts.ts';
import { buildServer } from '../../src/server/server.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();
let proxy: TcpProxy;
let client: Database;
let gate: ReadGate;
let server: FastifyInstance;
let address: string;

beforeAll(async () => {
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
  client = openDatabase(proxy.before(database.url));
  gate = new ReadGate(proxy.before(database.url));
  server = buildServer({
    sql: client.reader,
    gate,
    clock: systemClock,
    access: new Access({ host: '127.0.0.1', token: undefined, trustedProxies: [], public: [] }),
    log: { warn: () => {} },
    queueReachable: async () => {},
    queues: { readContents: async () => [], jobs: async () => [] },
    allowedHosts: ['recorder.example.org'],
    budgets: [],
    recorder: { name: 'recorder', network: 'fuji', simulated: false, directory: null },
    watched: [],
    upstreams: { nodes: [] },
    counts: new ProcessCounts(),
    rewards: { minUptime: 80, minUptimeAfterUpgrade: 90 },
    site: { title: 'Nodes', text: [], logo: null, nodes: [], announced: { once: [], recurring: [] } },
    recording: null,
  });
  address = await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  await gate.close();
  await client.close();
  await proxy.close();
});

async function get(path: string, host?: string): Promise<{ code: number; body: string }> {
  const { statusCode, body } = await request(address + path, host === undefined ? {} : { headers: { host } });
  return { code: statusCode, body: await body.text() };
}

describe('the server', () => {
  it('accepts its own host names only, for any path', async () => {
    for (const path of ['/health', '/ready', '/metrics', '/api/status', '/nothing']) {
      const refused = await get(path, 'evil.example:8080');
      expect(refused, path).toEqual({ code: 421, body: expect.stringContaining('server.allowedHosts') });
    }
    for (const host of ['localhost', 'recorder.example.org'])
      expect(await get('/health', host)).toMatchObject({ code: 200 });
  });

  it('refuses a request that names several hosts, in whichever order and case', async () => {
    const { hostname, port } = new URL(address);
    for (const [path, ...hosts] of [
      ['/health', 'Host: localhost', 'Host: evil.example'],
      ['/health', 'host: evil.example', 'HOST: localhost'],
      ['/health', 'Host: localhost', 'Host: localhost'],
      ['http://evil.example/health', 'Host: localhost'],
      ['HTTPS://localhost/', 'Host: localhost'],
    ]) {
      const socket = connect(Number(port), hostname);
      socket.end(`GET ${path} HTTP/1.1\r\n${hosts.join('\r\n')}\r\nConnection: close\r\n\r\n`);
      expect(await text(socket), path).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it('refuses requests of pages of other sites', async () => {
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    };
    const { statusCode, body } = await request(`${address}/query.json?sql=select%201`, { headers });
    expect({ statusCode, body: await body.json() }).toEqual({
      statusCode: 403,
      body: { error: expect.stringContaining('another site') },
    });
  });

  it('queries the database once for twenty simultaneous requests', async () => {
    await expect.poll(async () => (await get('/api/status')).code).toBe(200);
    let queryCount = 0;
    proxy.decide((statement) => {
      if (statement.includes('from recorder.budgets')) queryCount += 1;
      return 'forward';
    });
    await expect.poll(() => get('/api/status').then(() => queryCount)).toBeGreaterThan(0);
    // A cached result is valid for a second: twenty requests need at most two.
    const before = queryCount;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => get(at % 2 ? '/metrics' : '/api/status')),
    );
    expect(answers.every(({ code }) => code === 200)).toBe(true);
    expect(queryCount - before).toBeLessThanOrEqual(2);
  });

  it('continues without a database, reports the outage, and recovers with it', async () => {
    proxy.weather = { kind: 'down' };
    proxy.reset();
    await expect.poll(() => get('/api/status')).toMatchObject({ code: 503 });
    expect((await get('/api/status')).body).toMatch(/the database: ./);
    expect(await get('/metrics')).toMatchObject({
      code: 200,
      body: expect.stringMatching(/^chain_recorder_database_reachable 0$/m),
    });
    expect(await get('/ready')).toMatchObject({ code: 503 });
    expect(await get('/health')).toMatchObject({ code: 200 });
    proxy.weather = { kind: 'fair' };
    await expect.poll(() => get('/api/status'), { timeout: 20_000 }).toMatchObject({ code: 200 });
    expect((await get('/metrics')).body).toMatch(/^chain_recorder_database_reachable 1$/m);
  });
});
