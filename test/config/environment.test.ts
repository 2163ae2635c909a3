import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment, readValidEnvironment } from '../../src/config/environment.ts';
import { readSecrets } from '../../src/config/secrets.ts';
import { findSuspiciousVariables } from '../../src/config/suspicious-env.ts';
import { openTarget } from '../../src/warehouse/open-target.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { problemsOf } from './problems.ts';

const dir = temporaryFolder('environment');

function secretFile(text: string): string {
  const file = join(dir, 'secret');
  writeFileSync(file, text);
  return file;
}

const problems = (env: NodeJS.ProcessEnv) => problemsOf(() => readEnvironment(env));

describe('the environment', () => {
  it('may be empty', () => {
    expect(readEnvironment({})).toEqual({
      databaseUrl: undefined,
      reportingUrl: undefined,
      redisUrl: undefined,
      pgPort: undefined,
      stateHome: join(homedir(), '.local/state'),
      host: '127.0.0.1',
      port: 8080,
      logLevel: undefined,
      logJson: false,
      plainTerminal: false,
      configFile: undefined,
      chainDataKey: undefined,
      metricsKey: undefined,
      s3: { endpoint: undefined, region: undefined, keys: undefined, problems: [] },
    });
  });

  it('accepts a listen address of IPv6 as in URLs', () => {
    expect(readEnvironment({ RECORDER_HOST: '[::1]' }).host).toBe('::1');
  });

  it('has a database with the options that both drivers support', () => {
    const url = 'postgres://u:canary@host/db?sslmode=prefer';
    expect(problems({ DATABASE_URL: url, REPORTING_DATABASE_URL: url })).toEqual([
      expect.stringMatching(/^DATABASE_URL: sslmode=prefer .*: use require .*, verify-full or disable$/),
      expect.stringMatching(/^REPORTING_DATABASE_URL: sslmode=prefer/),
    ]);
  });

  it('has one replica of an external database', () => {
    const DATABASE_URL = 'postgres://u@primary/db';
    const of = (REPORTING_DATABASE_URL: string) => problems({ DATABASE_URL, REPORTING_DATABASE_URL });
    expect(of('postgres://u:pass@standby/db')).toEqual([]);
    expect(of('postgres://u@one,two/db')).toEqual([expect.stringContaining('contains several servers')]);
    expect(of('redis://u@standby')).toEqual([expect.stringMatching(/^REPORTING_DATABASE_URL: must start/)]);
    expect(problems({ REPORTING_DATABASE_URL: 'postgres://u@standby/db', RECORDER_PORT: 'x' })).toEqual([
      expect.stringContaining('RECORDER_PORT'),
      expect.stringContaining('the embedded PostgreSQL has no replica'),
    ]);
    expect(readSecrets({ REPORTING_DATABASE_URL: 'postgres://u:standby-word@h/db' })).toContain(
      'standby-word',
    );
  });

  it('treats an empty variable as unset', () => {
    const empty = {
      DATABASE_URL: '',
      RECORDER_PORT: '',
      REDIS_URL: '',
      RECORDER_HOST: '',
      LOG_LEVEL: '',
      METRICS_API_KEY: '',
    };
    expect(readEnvironment(empty)).toEqual(readEnvironment({}));
  });

  it('shares variables of AWS with other programs: invalid ones prevent only an export to S3', async () => {
    const { s3 } = readEnvironment({
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE00',
      AWS_SECRET_ACCESS_KEY_FILE: join(dir, 'no-such-file'),
      AWS_ENDPOINT_URL: 'minio:9000',
    });
    const problems = [
      'AWS_ENDPOINT_URL: must be an http or https URL',
      expect.stringContaining('AWS_SECRET_ACCESS_KEY_FILE: '),
      'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: set both, or none of them',
    ];
    await expect(openTarget('s3://bucket', s3)).rejects.toThrow(expect.objectContaining({ problems }));
    await (await openTarget(join(dir, 'lake'), s3)).close();
  });

  it('accepts an ed25519 key for seals, and redacts it', () => {
    const pem = (type: 'ed25519' | 'x25519') =>
      String(
        (type === 'ed25519'
          ? generateKeyPairSync('ed25519')
          : generateKeyPairSync('x25519')
        ).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
      );
    const key = pem('ed25519');
    expect(readEnvironment({ SEAL_KEY_FILE: secretFile(key) }).sealKey?.asymmetricKeyType).toBe('ed25519');
    expect(readEnvironment({ SEAL_KEY: key }).sealKey?.type).toBe('private');
    expect(readSecrets({ SEAL_KEY: key })).toEqual([key.split('\n')[1]]);
    for (const bad of ['nonsense', pem('x25519')])
      expect(problems({ SEAL_KEY: bad })).toEqual([
        expect.stringMatching(/^SEAL_KEY: must be an ed25519 private key .*openssl genpkey/),
      ]);
  });

  it('accepts secrets by name or by file', () => {
    expect(readEnvironment({ CHAIN_DATA_API_KEY: 'a-long-key' }).chainDataKey).toBe('a-long-key');
    expect(readEnvironment({ METRICS_API_KEY_FILE: secretFile('a-long-key\n') }).metricsKey).toBe(
      'a-long-key',
    );
    const url = 'postgres://user:secret@host/recorder';
    expect(readEnvironment({ DATABASE_URL_FILE: secretFile(`${url}\n`) }).databaseUrl).toBe(url);
    expect(readEnvironment({ REDIS_URL_FILE: secretFile('rediss://host') }).redisUrl).toBe('rediss://host');
  });

  it('returns all valid settings and reports only the invalid variables', () => {
    const env = { REPORTING_DATABASE_URL: 'postgres://u@standby/db', LOG_LEVEL: 'debug' };
    const wrong = readValidEnvironment({ ...env, DATABASE_URL: 'mysql://u@host/db' });
    expect(wrong.problems).toEqual([expect.stringMatching(/^DATABASE_URL: must start with postgres/)]);
    expect(wrong.environment).toMatchObject({ databaseUrl: undefined, reportingUrl: undefined });
    expect(wrong.environment.logLevel).toBe('debug');
    const unread = readValidEnvironment({ ...env, DATABASE_URL_FILE: join(dir, 'missing') });
    expect(unread.problems).toEqual([expect.stringMatching(/^DATABASE_URL_FILE: /)]);
    expect(readValidEnvironment(env).problems).toEqual([
      expect.stringMatching(/^REPORTING_DATABASE_URL: is set without DATABASE_URL/),
    ]);
  });

  it('reports all problems at once, and repeats no secret', () => {
    const found = problems({
      DATABASE_URL: 'mysql://user:canary@host/db',
      REDIS_URL: 'canary',
      CHAIN_DATA_API_KEY: 'long-canary',
      CHAIN_DATA_API_KEY_FILE: secretFile('long-canary'),
      METRICS_API_KEY_FILE: join(dir, 'missing'),
      RECORDER_PORT: '99999',
      LOG_LEVEL: 'loud',
      LOG_FORMAT: 'xml',
    });
    expect(found.map((one) => one.split(':')[0]).sort()).toEqual([
      'CHAIN_DATA_API_KEY',
      'DATABASE_URL',
      'LOG_FORMAT',
      'LOG_LEVEL',
      'METRICS_API_KEY_FILE',
      'RECORDER_PORT',
      'REDIS_URL',
    ]);
    expect(found.join('\n')).not.toContain('canary');
  });

  it.each(['-1', '65536', 'http', '80.5', ' '])('refuses port %j', (port) => {
    expect(problems({ RECORDER_PORT: port })).toHaveLength(1);
  });

  it('refuses 0 as the port of the embedded PostgreSQL, because other programs need the number', () => {
    expect(readEnvironment({ RECORDER_PG_PORT: '65535' }).pgPort).toBe(65_535);
    expect(readEnvironment({ RECORDER_PORT: '0' }).port).toBe(0);
    for (const port of ['0', '00000', '65536', 'x'])
      expect(problems({ RECORDER_PG_PORT: port })).toEqual([
        `RECORDER_PG_PORT: must be a port number from 1 to 65535, not "${port}"`,
      ]);
    expect(problems({ RECORDER_PORT: '65536' })).toEqual([
      'RECORDER_PORT: must be a port number from 0 to 65535, not "65536"',
    ]);
  });

  it('refuses a key that is too short to be redacted', () => {
    expect(problems({ METRICS_API_KEY: 'canary' })).toEqual([expect.stringMatching(/^METRICS_API_KEY: .*8/)]);
  });

  it.each([
    'a-token-of-some-length\n',
    ' a-token-of-some-length',
    'a token of some length',
    'a-tökén-of-some-length',
  ])('refuses a token that no client can send: %j', (token) => {
    expect(problems({ RECORDER_TOKEN: token })).toEqual([
      expect.stringMatching(/^RECORDER_TOKEN: has a space, a line break or another character/),
    ]);
    expect(problems({ RECORDER_TOKEN: token }).join()).not.toContain('some');
  });

  it('accepts a token with any character that a header can carry, and drops the line break of its file', () => {
    const token = '"a-token/of=some+length~"';
    expect(readEnvironment({ RECORDER_TOKEN: token }).token).toBe(token);
    expect(readEnvironment({ RECORDER_TOKEN_FILE: secretFile(`${token}\n`) }).token).toBe(token);
  });

  it('reports variables without an effect', () => {
    expect(
      findSuspiciousVariables({
        DATABASE_URI: 'x',
        CHAIN_DATA_KEY: 'x',
        RECORDER_SERVICE_HOST: '10.0.0.1', // Kubernetes sets it
        RECORDER_PORT_8080_TCP: 'x',
        REDIS_HOST: 'x',
        DATABASE_NAME: 'x',
        PORT: '80',
        METRICS_KEY: 'x',
        METRICS_API_KEY: 'the-right-one',
        REDIS_URL: '',
        https_proxy: 'http://proxy:3128',
        PGPASSWORD: 'x',
      }),
    ).toEqual([
      { found: 'REDIS_URL is empty, which counts as not set' },
      { found: 'DATABASE_URI is set, and there is no such variable', fix: 'set DATABASE_URL instead' },
      {
        found: 'CHAIN_DATA_KEY is set, and there is no such variable',
        fix: 'set CHAIN_DATA_API_KEY instead',
      },
      { found: 'https_proxy is set, but has no effect: requests to upstreams use no proxy' },
      { found: 'PGPASSWORD is set, but has no effect: DATABASE_URL contains all settings of the database' },
    ]);
  });

  it('lists its secrets, plain and as encoded in a URL', () => {
    const secrets = readSecrets({
      CHAIN_DATA_API_KEY: 'data-key',
      METRICS_API_KEY_FILE: secretFile('metrics-key\n'),
      DATABASE_URL: 'postgres://user:pass%2Fword@one:5432,two/db?sslmode=require&sslpassword=of-the-key',
      REDIS_URL_FILE: join(dir, 'missing'),
    });
    expect(secrets).toEqual([
      'data-key',
      'metrics-key',
      'pass%2Fword',
      'pass/word',
      'of-the-key',
      'of-the-key',
    ]);
    expect(readSecrets({ DATABASE_URL: 'postgres://user:pass@word@one,two/db' })).toContain('pass@word');
    expect(readSecrets({ REDIS_URL: 'redis-cluster://:secret@a,b' })).toEqual(['secret', 'secret']);
    expect(readSecrets({ DATABASE_URL: 'postgres://recorder:recorder@db/recorder' })).toEqual([]);
  });
});
