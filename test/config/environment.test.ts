import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { UsageError } from '../../src/errors.ts';

const dir = mkdtempSync(join(tmpdir(), 'recorder-environment-'));
afterAll(() => rmSync(dir, { recursive: true }));

function secretFile(text: string): string {
  const file = join(dir, 'secret');
  writeFileSync(file, text);
  return file;
}

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readEnvironment(env);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

describe('the environment', () => {
  it('may be empty', () => {
    expect(readEnvironment({})).toEqual({
      databaseUrl: undefined,
      redisUrl: undefined,
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      configFile: undefined,
      chainDataKey: undefined,
      metricsKey: undefined,
    });
  });

  it('takes an empty variable for one that is not set', () => {
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

  it('gives secrets by name or by file', () => {
    expect(readEnvironment({ CHAIN_DATA_API_KEY: 'key' }).chainDataKey).toBe('key');
    expect(readEnvironment({ METRICS_API_KEY_FILE: secretFile('key\n') }).metricsKey).toBe('key');
    const url = 'postgres://user:secret@host/recorder';
    expect(readEnvironment({ DATABASE_URL_FILE: secretFile(`${url}\n`) }).databaseUrl).toBe(url);
    expect(readEnvironment({ REDIS_URL_FILE: secretFile('rediss://host') }).redisUrl).toBe('rediss://host');
  });

  it('says all that is wrong with it at once, and repeats no secret', () => {
    const found = problems({
      DATABASE_URL: 'mysql://user:canary@host/db',
      REDIS_URL: 'canary',
      CHAIN_DATA_API_KEY: 'canary',
      CHAIN_DATA_API_KEY_FILE: secretFile('canary'),
      METRICS_API_KEY_FILE: join(dir, 'missing'),
      RECORDER_PORT: '99999',
      LOG_LEVEL: 'loud',
    });
    expect(found.map((one) => one.split(':')[0]).sort()).toEqual([
      'CHAIN_DATA_API_KEY',
      'DATABASE_URL',
      'LOG_LEVEL',
      'METRICS_API_KEY_FILE',
      'RECORDER_PORT',
      'REDIS_URL',
    ]);
    expect(found.join('\n')).not.toContain('canary');
  });

  it.each(['0', '1', '65535'])('takes port %s', (port) => {
    expect(readEnvironment({ RECORDER_PORT: port }).port).toBe(Number(port));
  });

  it.each(['-1', '65536', 'http', '80.5', ' '])('refuses port %j', (port) => {
    expect(problems({ RECORDER_PORT: port })).toHaveLength(1);
  });
});
