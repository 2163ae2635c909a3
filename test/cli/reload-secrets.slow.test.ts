import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, expect } from 'vitest';
import { stringify } from 'yaml';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { sendJson, type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

const dir = temporaryFolder('secrets');
const names = ['CHAIN_DATA_API_KEY', 'RECORDER_TOKEN', 'HOOK_KEY', 'DATABASE_URL'];
const { it, database } = withDatabase();
let upstream: UpstreamServer;
let up: Running;
let port: number;

/** Writes a secret for each name. */
const canary = (name: string, which: string) => `canary-${which}-${name.toLowerCase()}`;
const writeSecret = (name: string, value: string) => writeFileSync(join(dir, name), `${value}\n`);

beforeAll(async () => {
  upstream = await upstreamServer((_, response) => sendJson(response, { subnets: [] }));
  port = await findFreePort();
  for (const name of names) writeSecret(name, name === 'DATABASE_URL' ? database.url : canary(name, 'first'));
  const config = {
    network: 'fuji',
    upstreams: { chainData: { url: upstream.url, apiKeyHeader: 'x-key' } },
    datasets: { subnets: { every: '5s' } },
    alerts: { channels: [{ name: 'hook', type: 'webhook', url: `http://127.0.0.1:1/\${HOOK_KEY}` }] },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
  const files = Object.fromEntries(names.map((name) => [`${name}_FILE`, join(dir, name)]));
  up = startCommand(['up'], { RECORDER_PORT: String(port), ...files }, dir);
});
afterAll(async () => {
  up.process.kill('SIGKILL');
  await upstream.close();
});

const statusWith = (which: string) => async () => {
  const headers = { authorization: `Bearer ${canary('RECORDER_TOKEN', which)}` };
  const answer = await request(`http://127.0.0.1:${port}/metrics`, { headers }).catch(() => null);
  await answer?.body.dump();
  return answer?.statusCode;
};
const lastSentKey = () => upstream.received.at(-1)?.headers['x-key'];

it('SIGHUP reloads the changed secrets from files, and logs their names, never their values', async () => {
  await expect.poll(statusWith('first'), { timeout: 50_000 }).toBe(200);
  await expect.poll(lastSentKey, { timeout: 50_000 }).toBe(canary('CHAIN_DATA_API_KEY', 'first'));
  for (const name of names) if (name !== 'DATABASE_URL') writeSecret(name, canary(name, 'second'));
  writeSecret('DATABASE_URL', `${database.url}?options=-c%20work_mem%3D5MB`);
  up.process.kill('SIGHUP');
  await expect.poll(statusWith('second'), { timeout: 50_000 }).toBe(200);
  expect(await statusWith('first')()).toBe(401);
  await expect.poll(lastSentKey, { timeout: 50_000 }).toBe(canary('CHAIN_DATA_API_KEY', 'second'));

  writeSecret('RECORDER_TOKEN', 'short');
  up.process.kill('SIGHUP');
  const isSecondAccepted = async () => (await statusWith('second')()) === 200;
  await expect.poll(isSecondAccepted, { timeout: 50_000 }).toBe(true);

  up.process.kill('SIGTERM');
  const { code, stderr } = await up.ended;
  expect(code, stderr).toBe(0);
  for (const name of names)
    for (const which of ['first', 'second']) expect(stderr).not.toContain(canary(name, which));
  const log = stderr
    .split('\n')
    .flatMap((line): Record<string, unknown>[] => (line ? [JSON.parse(line)] : []));
  expect(log.flatMap(({ changes }) => (changes === undefined ? [] : [changes]))).toEqual([
    ['RECORDER_TOKEN: changed', 'CHAIN_DATA_API_KEY: changed', 'HOOK_KEY: changed'],
  ]);
  expect(log.filter(({ kept }) => kept !== undefined).map(({ kept }) => kept)).toContainEqual([
    'DATABASE_URL',
  ]);
  const problems = log.flatMap(({ problems: found }) => (found === undefined ? [] : [found]));
  expect(problems).toEqual([[expect.stringContaining('RECORDER_TOKEN: is shorter than')]]);
});
