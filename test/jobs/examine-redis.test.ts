import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { RedisPlaces } from '../../chaos/servers/redis-places.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { checkRedis } from '../../src/jobs/examine-redis.ts';
import { startCommand } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { rawServer } from '../support/upstream-server.ts';

const skipped = inject('redisSkipReason');
const servers = new RedisPlaces();
afterEach(() => servers.stop());
const redis = async (...settings: string[]) => (await servers.start(...settings)).port;

describe.skipIf(skipped)(`a Redis${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  it('that keeps its keys and accepts writes is healthy', async () => {
    expect(await checkRedis(`redis://127.0.0.1:${await redis()}`)).toBeNull();
  });

  it('with a password reports whether a password is required, and whether the given one is correct', async () => {
    const port = await redis('--requirepass', 'correct-horse');
    expect(await checkRedis(`redis://:correct-horse@127.0.0.1:${port}`)).toBeNull();
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: `Redis 127.0.0.1:${port}: the server requires a password`,
    });
    const wrong = await checkRedis(`redis://:wrong-horse@127.0.0.1:${port}`);
    expect(wrong).toMatchObject({
      ok: false,
      found: expect.stringContaining('rejects the user or the password'),
    });
    expect(JSON.stringify(wrong)).not.toContain('wrong-horse');
  });

  it('accepts an escaped user and password, at an address of IPv6', async () => {
    const [user, password] = ['us:er@x', 'p@:/%#?&+ä'];
    const port = await redis(
      '--bind',
      '127.0.0.1',
      '::1',
      '--user',
      user,
      'on',
      `>${password}`,
      '~*',
      '&*',
      '+@all',
    );
    const login = [user, password].map(encodeURIComponent).join(':');
    for (const host of ['127.0.0.1', '[::1]'])
      expect(await checkRedis(`redis://${login}@${host}:${port}/3?family=0`)).toBeNull();
    expect(await checkRedis(`redis://${login.replace('p', 'q')}@[::1]:${port}`)).toMatchObject({
      found: `Redis [::1]:${port}: the server rejects the user or the password`,
    });
  });

  it('has fewer databases than the number in the URL', async () => {
    const url = `redis://127.0.0.1:${await redis()}`;
    expect(await checkRedis(`${url}/15`)).toBeNull();
    expect(await checkRedis(`${url}/99`)).toMatchObject({
      ok: false,
      found: expect.stringContaining('the server has no database 99'),
      fix: expect.stringContaining('end REDIS_URL with the number of an existing database'),
    });
  });

  it('refuses the queue of up', async () => {
    const database = await testDatabase();
    const cwd = mkdtempSync(join(tmpdir(), 'recorder-redis-up-'));
    writeFileSync(join(cwd, 'recorder.yaml'), 'network: mainnet\nupstreams: {}\n');
    const port = await redis();
    const evicting = await redis('--maxmemory-policy', 'allkeys-lru');
    for (const [url, message] of [
      [
        `redis://127.0.0.1:${port}/99`,
        /REDIS_URL: this Redis is unsuitable for the queue: the server has no database 99: end REDIS_URL with/,
      ],
      [
        `redis://127.0.0.1:${evicting}/3`,
        /REDIS_URL: this Redis is unsuitable for the queue: the server evicts keys .* set maxmemory-policy noeviction/,
      ],
    ] as const) {
      const up = startCommand(['up'], { DATABASE_URL: database.url, REDIS_URL: url }, cwd);
      const { code, stderr } = await up.ended;
      expect(stderr).toMatch(message);
      expect(code).toBe(2);
    }
    rmSync(cwd, { recursive: true });
    await database.close();
  });

  it('evicts keys', async () => {
    const port = await redis('--maxmemory-policy', 'allkeys-lru');
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: expect.stringContaining('evicts keys (maxmemory-policy allkeys-lru)'),
      fix: expect.stringContaining('noeviction'),
    });
  });

  it('has a full memory', async () => {
    const port = await redis('--maxmemory', '1');
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: expect.stringContaining('the memory of the server is full'),
      fix: expect.stringContaining('maxmemory'),
    });
  });

  it('that is a cluster is healthy by its own name, and by no other', async () => {
    const nodes = await servers.startCluster();
    const [one, two] = nodes;
    expect(await checkRedis(`redis-cluster://127.0.0.1:${one?.port},127.0.0.1:${two?.port}`)).toBeNull();
    expect(await checkRedis(`redis://127.0.0.1:${one?.port}`)).toMatchObject({
      found: expect.stringContaining('the server is a node of a cluster'),
      fix: expect.stringContaining('redis-cluster://'),
    });
    expect(await checkRedis(`redis-cluster://127.0.0.1:${await redis()}`)).toMatchObject({
      found: expect.stringContaining('the server is not a cluster'),
    });
    for (const { port } of nodes) {
      const client = new Redis(port);
      await client.call('CLUSTER', 'DELSLOTS', '1');
      await vi.waitFor(
        async () => expect(String(await client.cluster('INFO'))).toContain('cluster_state:fail'),
        { timeout: 30_000 },
      );
      client.disconnect();
    }
    expect(await checkRedis(`redis-cluster://127.0.0.1:${one?.port}`)).toMatchObject({
      found: expect.stringContaining('not all slots of the cluster are served'),
      fix: expect.stringContaining('redis-cli --cluster check'),
    });
  });

  it('that sentinels manage is healthy by their name for it', async () => {
    const { primary, sentinels } = await servers.startSentinels();
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    expect(await checkRedis(`redis-sentinel://${hosts}/recorder`)).toBeNull();
    expect(await checkRedis(`redis-sentinel://${hosts}/another`)).toMatchObject({
      found: `Redis behind sentinels ${hosts}: no sentinel has a primary with this name`,
    });
    expect(await checkRedis(`redis://127.0.0.1:${sentinels[0]?.port}`)).toMatchObject({
      found: expect.stringContaining('the server is a sentinel'),
    });
    expect(await checkRedis(`redis-sentinel://127.0.0.1:${primary.port}/recorder`)).toMatchObject({
      found: expect.stringContaining('the server is not a sentinel'),
    });
    expect(await checkRedis(`redis-sentinel://127.0.0.1:${await findFreePort()}/recorder`)).toMatchObject({
      found: expect.stringContaining('no sentinel responds'),
    });
  });

  it('is a replica', async () => {
    const port = await redis('--replicaof', '127.0.0.1 1');
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: expect.stringContaining('the server is a replica of 127.0.0.1:1'),
      fix: 'name the primary in REDIS_URL',
    });
  });
});

describe('at the address of a Redis', () => {
  it('an old one is too old', async () => {
    const info = '# Server\r\nredis_version:5.0.7\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n';
    const old = createServer((socket) => {
      socket.on('data', (data) => {
        for (const [, command = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
          socket.write(/info/i.test(command) ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    const address = old.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: expect.stringContaining('version 5.0.7 is too old'),
    });
    old.close();
  });

  it('nothing listens', async () => {
    const port = await findFreePort();
    expect(await checkRedis(`redis://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      found: `Redis 127.0.0.1:${port}: nothing listens there`,
    });
  });

  it('another program answers', async () => {
    const web = await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await checkRedis(web.url.replace('http:', 'redis:'))).toMatchObject({
      ok: false,
      found: expect.stringContaining('does not respond to Redis commands'),
    });
    await web.close();
  });
});
