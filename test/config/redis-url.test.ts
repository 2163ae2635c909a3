import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { readSecrets } from '../../src/config/secrets.ts';
import { UsageError } from '../../src/lib/errors.ts';

describe('a REDIS_URL', () => {
  it('has one server, with its database', () => {
    expect(parseRedisUrl('rediss://user:p%40ss@[::1]:6380/3')).toEqual({
      kind: 'server',
      host: '::1',
      port: 6380,
      database: 3,
      tls: true,
      username: 'user',
      password: 'p@ss',
      named: '[::1]:6380',
    });
    expect(parseRedisUrl('redis://host?family=0')).toMatchObject({ port: 6379, database: 0, tls: false });
  });

  it('has some nodes of a cluster', () => {
    expect(parseRedisUrl('redis-cluster://:secret@one:7000,two,[::1]:7002')).toEqual({
      kind: 'cluster',
      tls: false,
      username: undefined,
      password: 'secret',
      named: 'one:7000,two,[::1]:7002',
      nodes: [
        { host: 'one', port: 7000 },
        { host: 'two', port: 6379 },
        { host: '::1', port: 7002 },
      ],
    });
    expect(parseRedisUrl('rediss-cluster://one/')).toMatchObject({ kind: 'cluster', tls: true });
  });

  it('has sentinels of a primary, which may require a password of their own', () => {
    expect(parseRedisUrl('redis-sentinel://a,b:26380/my%20master/2?sentinelPassword=watch%2Fman')).toEqual({
      kind: 'sentinel',
      tls: false,
      username: undefined,
      password: undefined,
      named: 'a,b:26380',
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
      ],
      name: 'my master',
      database: 2,
      sentinelUsername: undefined,
      sentinelPassword: 'watch/man',
    });
  });

  it.each([
    ['redis://one,two', /several hosts require/],
    ['redis-cluster://one,two/1', /a cluster has only one database/],
    ['redis-sentinel://one,two', /the name of the primary must follow/],
    ['redis-sentinel://one/', /the name of the primary must follow/],
    ['redis-sentinel://one/name/queue', /behind the name only the number of a database may follow/],
    ['redis-cluster://one,,two', /URL/],
    ['redis-cluster://one,two:99999', /URL/],
    ['redis://one?db=2', /write the number of a database as \/1/],
    ['redis://one/1?tls=true', /TLS as rediss:/],
    ['redis-clusters://one', /must start with redis:\/\/ or rediss:\/\/ or redis-cluster:\/\//],
  ])('that is unusable gets an error with the reason, and without a secret: %s', (url, message) => {
    const withPassword = url.replace('://', '://:canary-canary@');
    let problems: readonly string[] = [];
    try {
      readEnvironment({ REDIS_URL: withPassword });
    } catch (error) {
      if (error instanceof UsageError) problems = error.problems;
    }
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems.join()).not.toContain('canary');
  });

  it('has its passwords redacted, including those of sentinels', () => {
    const REDIS_URL = 'redis-sentinel://:first-secret@a,b/name?sentinelPassword=second%2Fsecret';
    expect(readSecrets({ REDIS_URL })).toEqual(
      expect.arrayContaining(['first-secret', 'second%2Fsecret', 'second/secret']),
    );
  });
});
