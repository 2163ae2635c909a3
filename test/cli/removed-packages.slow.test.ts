import { cp, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { stringify } from 'yaml';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { pages } from '../../src/server/pages/pages.ts';
import { type ChannelStandIns, channelStandIns } from '../support/channel-stand-ins.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const RULE = "select node as subject from node_health where check_name = '*' and state = 'down'";

const { it, database, sql } = withDatabase();
const dir = temporaryFolder('packages');
let standIns: ChannelStandIns;
let up: Running;

beforeAll(async () => {
  // A copy, because other tests use the build of this test run.
  await cp(dirname(dirname(inject('cli'))), join(dir, 'installed'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  standIns = await channelStandIns(Date.now);
});
afterAll(async () => {
  up?.process.kill('SIGKILL');
  await standIns.close();
});

/**
 * `npm ci` deletes node_modules and writes it again. Node.js never loads a module after a lookup of its package failed.
 */
it('loads every package that a running recorder needs', async () => {
  const port = await findFreePort();
  const channels = standIns.channels.filter(({ name }) => name === 'email');
  const config = {
    network: 'mainnet',
    upstreams: { nodes: [{ name: 'one', url: 'http://127.0.0.1:1' }] },
    alerts: { channels, rules: [{ name: 'mine', sql: RULE }] },
  };
  await writeFile(join(dir, 'recorder.yaml'), stringify(config));
  const env = { DATABASE_URL: database.url, RECORDER_PORT: String(port), ...standIns.env };
  up = startCommand(['up'], env, dir, undefined, [], join(dir, 'installed/dist/cli.js'));
  const status = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null))?.status ?? 0;
  await Promise.race([
    expect.poll(() => status('/ready'), { timeout: 50_000 }).toBe(200),
    up.ended.then(({ stderr }) => expect.fail(stderr)),
  ]);
  await unlink(join(dir, 'installed/node_modules'));
  expect(standIns.messages.email).toEqual([]);
  for (const path of ['/health', '/metrics', '/query?sql=select+1', ...pages.map((page) => page.path)])
    expect([path, await status(path)]).toEqual([path, expect.toSatisfy((code) => code >= 200 && code < 500)]);
  await expect.poll(() => standIns.messages.email.length, { timeout: 90_000 }).toBeGreaterThan(0);
  const [failure] = await sql`select error from recorder.alert_channels`;
  expect(failure).toEqual({ error: null });
  up.process.kill('SIGTERM');
  const { code, stderr } = await up.ended;
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain('ERR_MODULE_NOT_FOUND');
});
