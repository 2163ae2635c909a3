import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { checkDisk } from '../../../src/doctor/check-storage.ts';
import { type Ended, startCommand } from '../../support/cli.ts';
import { runCommand } from '../../support/command-line.ts';
import { testDatabase } from '../../support/database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const dir = temporaryFolder('doctor');

const findings = z.array(
  z.object({ check: z.string(), ok: z.boolean(), found: z.string(), fix: z.string().optional() }),
);

async function doctor(
  config: string,
  env: NodeJS.ProcessEnv,
  run: (
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    cwd: string,
  ) => Promise<Pick<Ended, 'code' | 'stdout'>> = runCommand,
) {
  writeFileSync(join(dir, 'recorder.yaml'), config);
  const { code, stdout } = await run(['doctor', '--json'], env, dir);
  return { code, wrong: findings.parse(JSON.parse(stdout)).filter(({ ok }) => !ok) };
}

it('continues after the first problem, whatever is invalid', async () => {
  const { code, wrong } = await doctor('network: moonnet\nwatch:\n  chain: []\n', {
    DATABASE_URL: 'postgres://user:canary-password@127.0.0.1:1/recorder',
    REDIS_URL: 'redis://127.0.0.1:1',
    RECORDER_PORT: 'eighty',
  });
  expect(code).toBe(2);
  expect(wrong.map(({ check }) => check)).toEqual([
    'environment',
    'configuration',
    'configuration',
    'database',
    'queue',
  ]);
  expect(JSON.stringify(wrong)).toContain('did you mean chains?');
  expect(JSON.stringify(wrong)).not.toContain('canary-password');
});

it('reports invalid variables and an invalid file', async () => {
  const { code, wrong } = await doctor('network: mainnet\n', {
    DATABASE_URL: 'postgres://user:canary#password@127.0.0.1:1/recorder',
    CHAIN_DATA_API_KEY: '"canary-in-quotes"',
    METRICS_KEY: 'canary-key',
    REDIS_URL: '',
  });
  expect(code).toBe(2);
  expect(wrong).toMatchObject([
    { check: 'environment', found: expect.stringMatching(/^DATABASE_URL: is not a valid URL.*# as %23/) },
    {
      check: 'environment',
      found: expect.stringMatching(/^CHAIN_DATA_API_KEY: starts or ends with a quote/),
    },
    {
      check: 'environment',
      found: expect.stringContaining('METRICS_KEY'),
      fix: 'set METRICS_API_KEY instead',
    },
    { check: 'configuration', found: expect.stringContaining('nothing is recorded') },
  ]);
  expect(JSON.stringify(wrong)).not.toContain('canary');
  // A wrong DATABASE_URL is no reason to create a database here.
  expect(existsSync(join(dir, '.recorder'))).toBe(false);

  const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/recorder' };
  const missing = await runCommand(['doctor', '--config', 'other.yaml'], unreachable, dir);
  expect(missing).toMatchObject({
    code: 2,
    stdout: expect.stringContaining(`no such file (${join(dir, 'other.yaml')})`),
  });
  const folder = mkdtempSync(join(dir, 'wrong-'));
  writeFileSync(join(folder, 'recorder.yml'), 'network: mainnet\n');
  for (const command of ['doctor', 'status']) {
    const { code: refused, stdout, stderr } = await runCommand([command], unreachable, folder);
    expect(refused).toBe(2);
    expect(stdout + stderr).toContain('recorder.yml: is not read: rename this file to recorder.yaml');
  }
});

it('reports an invalid DATABASE_URL also if a replica is configured', async () => {
  const { code, wrong } = await doctor('network: mainnet\n', {
    DATABASE_URL: 'mysql://user@host/db',
    REPORTING_DATABASE_URL: 'postgres://user@standby/db',
  });
  expect(code).toBe(2);
  expect(wrong).toMatchObject([
    { check: 'environment', found: expect.stringMatching(/^DATABASE_URL: must start with/) },
    { check: 'configuration' },
  ]);
});

it('names each invalid variable of channels and sinks, as up does', async () => {
  const alerts = {
    heartbeat: `https://x.example/\${BEAT_KEY}`,
    channels: [{ name: 'ops', type: 'webhook', url: `https://x.example/\${HOOK_KEY}` }],
  };
  const changes = { sinks: [{ name: 'lake', type: 'webhook', url: `https://x.example/\${LAKE_KEY}` }] };
  const { code, wrong } = await doctor(stringify({ network: 'mainnet', alerts, changes }), {
    DATABASE_URL: 'postgres://127.0.0.1:1/recorder',
    LAKE_KEY: 'short',
  });
  expect(code).toBe(2);
  expect(wrong.filter(({ check }) => check === 'configuration').map(({ found }) => found)).toEqual([
    expect.stringContaining('nothing is recorded'),
    'alerts.channels[0].url: HOOK_KEY is not set',
    'alerts.heartbeat: BEAT_KEY is not set',
    expect.stringMatching(/^changes\.sinks\[0\]\.url: LAKE_KEY is shorter than 8 characters/),
  ]);
  const database = await testDatabase();
  const { ended } = startCommand(['up'], { DATABASE_URL: database.url, LAKE_KEY: 'short' }, dir);
  const up = await ended;
  expect(up.code).toBe(2);
  for (const path of ['alerts.channels[0].url', 'alerts.heartbeat', 'changes.sinks[0].url'])
    expect(up.stderr).toContain(path);
  await database.close();
});

it('tests the queries of rules, each by its path', async () => {
  const database = await testDatabase();
  const env = { DATABASE_URL: database.url };
  const rules = (sql: string) => [
    { name: 'late', sql: 'select dataset from reporting.freshness' },
    { name: 'mine', sql },
    { name: 'off', sql: 'select nonsense', enabled: false },
  ];
  const config = (sql: string) => stringify({ network: 'mainnet', alerts: { rules: rules(sql) } });
  const { code, wrong } = await doctor(config('select subject from reporting.nowhere'), env);
  expect(code).toBe(1);
  expect(wrong.filter(({ check }) => check === 'alerts')).toEqual([
    {
      check: 'alerts',
      ok: false,
      found: expect.stringMatching(/^alerts\.rules\[1\]\.sql: relation "reporting\.nowhere" does not exist/),
    },
  ]);
  const right = await doctor(config('select 1 as subject'), env);
  expect(right.wrong.filter(({ check }) => check === 'alerts')).toEqual([]);
  await database.close();
});

it('reports an invalid certificate', async () => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const subject = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`];
  openssl('req', '-x509', ...subject('authority'), '-days', '2', '-keyout', 'ca.key', '-out', 'ca.pem');
  openssl('req', '-x509', ...subject('itself'), '-days', '2', '-keyout', 'own.key', '-out', 'own.pem');
  const createSigned = (name: string, days: string, names: string) => {
    writeFileSync(join(dir, 'names'), `subjectAltName=${names}`);
    openssl('req', '-new', ...subject(name), '-keyout', `${name}.key`, '-out', 'request');
    openssl(
      'x509',
      '-req',
      '-in',
      'request',
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-days',
      days,
      '-extfile',
      'names',
      '-out',
      `${name}.pem`,
    );
  };
  createSigned('expired', '-1', 'IP:127.0.0.1');
  createSigned('other', '2', 'DNS:other.example');
  createSigned('plain', '2', 'IP:127.0.0.1');
  const servers = await Promise.all(
    ['own', 'expired', 'other', 'plain'].map(async (name) => {
      const pair = {
        key: readFileSync(join(dir, `${name}.key`)),
        cert: readFileSync(join(dir, `${name}.pem`)),
      };
      const server = createServer(pair, (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"jsonrpc":"2.0","id":1,"result":{}}'),
      );
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      return { name, server, port: typeof address === 'object' ? address?.port : 0 };
    }),
  );
  const nodes = servers.map(({ name, port }) => ({
    name,
    url: `${name === 'plain' ? 'http' : 'https'}://127.0.0.1:${port}`,
  }));
  const config = { network: 'mainnet', upstreams: { nodes } };
  // Node.js reads NODE_EXTRA_CA_CERTS when it starts.
  const { code, wrong } = await doctor(
    stringify(config),
    { DATABASE_URL: 'postgres://127.0.0.1:1/recorder', NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem') },
    (...command) => startCommand(...command).ended,
  );
  for (const { server } of servers) server.close();
  expect(code).toBe(1);
  const findingsOf = (name: string) => wrong.filter(({ check }) => check === `nodes/${name}`);
  expect(findingsOf('own')).toMatchObject([
    {
      found: expect.stringContaining('is self-signed'),
      fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    },
  ]);
  expect(findingsOf('expired')).toMatchObject([{ found: expect.stringContaining('has expired') }]);
  expect(findingsOf('other')).toMatchObject([
    { found: expect.stringContaining('not for the name 127.0.0.1') },
  ]);
  // The server has TLS and is called without it.
  expect(findingsOf('plain')).toMatchObject([
    { fix: `set upstreams.nodes[3].url to https://127.0.0.1:${servers[3]?.port}, where the API responds` },
  ]);
});

it('reports a nearly full disk', async () => {
  expect(await checkDisk(dir, 0)).toMatchObject({
    ok: true,
    found: expect.stringContaining('GB are free'),
  });
  expect(await checkDisk(dir, Number.MAX_SAFE_INTEGER)).toMatchObject({
    ok: false,
    fix: expect.stringContaining('free disk space'),
  });
});
