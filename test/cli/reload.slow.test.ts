import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { NotifySocket, noNotifySocket } from '../support/notify-socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOOK_KEY = 'correct-horse-battery';
const { it, database, sql } = withDatabase({ max: 1 });
let sandbox: Sandbox;
const dir = temporaryFolder('reload');
let socket: NotifySocket | null = null;
let up: Running;
let port: number;

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false });
  if (!noNotifySocket) socket = await NotifySocket.open(join(dir, 'notify'));
  port = await findFreePort();
  write(1, '60s');
  up = startCommand(
    ['up'],
    {
      DATABASE_URL: database.url,
      RECORDER_PORT: String(port),
      HOOK_KEY,
      ...(socket ? { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '2000000' } : {}),
    },
    dir,
  );
});
afterAll(async () => {
  up.process.kill('SIGKILL');
  socket?.close();
  await sandbox.close();
});

/** Writes the configuration with this number of nodes, and more settings. */
function write(nodes: number, every: string, more: object = {}): void {
  const watched = sandbox.watch.nodes.slice(0, nodes);
  const config = {
    network: 'sandbox',
    upstreams: { nodes: watched.map(({ name, path }) => ({ name, url: sandbox.url + path })) },
    datasets: { node_health: { every }, peers: { enabled: false } },
    ...more,
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
}

async function get(path: string): Promise<{ code: number; text: string }> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
    return { code: statusCode, text: await body.text() };
  } catch {
    return { code: 0, text: '' };
  }
}
const ready = async () => (await get('/ready')).code;
const lastReloadSuccessful = async () =>
  (await get('/metrics')).text.match(/^chain_recorder_config_last_reload_successful (\d)$/m)?.[1];
const probedNodes = async () => {
  const rows = await sql<{ node: string }[]>`
    select distinct t.target ->> 'node' as node from recorder.targets t join recorder.target_datasets d using (source, target_key)
    join reporting_internal.node_probes p on p.node = t.target ->> 'node' where d.dataset = 'node_health' and d.active order by 1`;
  return rows.map(({ node }) => node);
};
const withTitle = (title: string) => ({ server: { status: { title } } });
const withWebhook = (title: string) => ({
  alerts: { channels: [{ name: 'hook', type: 'webhook', url: `http://127.0.0.1:1/\${HOOK_KEY}` }] },
  ...withTitle(title),
});
const nodes = (count: number) => sandbox.watch.nodes.slice(0, count).map(({ name }) => name);

describe('SIGHUP', () => {
  it('reloads the configuration of a running recorder', async () => {
    await expect.poll(ready, { timeout: 50_000 }).toBe(200);
    await expect.poll(probedNodes, { timeout: 50_000 }).toEqual(nodes(1));
    write(2, '30s');
    up.process.kill('SIGHUP');
    await expect.poll(probedNodes, { timeout: 50_000 }).toEqual(nodes(2));
    await expect.poll(ready, { timeout: 50_000 }).toBe(200);
    expect(await lastReloadSuccessful()).toBe('1');
    expect(up.process.exitCode).toBe(null);
  });

  it('changes nothing if the file is invalid, which is reported', async () => {
    write(1, 'soon', { wach: {}, server: { public: ['all'] } });
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('0');
    expect(await ready()).toBe(200);
    expect(await probedNodes()).toEqual(nodes(2));
  });

  it('changes nothing if the file could not be started with', async () => {
    write(2, '30s', { server: { status: { logo: 'no-such-file.svg' } } });
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('0');
    expect(await ready()).toBe(200);
    // The old configuration is the newest again without a change.
    write(2, '30s');
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('1');
  });

  it('keeps secrets out of the log that only the old or only the new file names', async () => {
    for (const config of [
      withWebhook('first'),
      withWebhook(HOOK_KEY),
      withTitle('without'),
      withWebhook(HOOK_KEY),
    ]) {
      write(2, '30s', config);
      up.process.kill('SIGHUP');
      const { title } = config.server.status;
      await expect.poll(async () => (await get('/status')).text, { timeout: 50_000 }).toContain(title);
      await expect.poll(ready, { timeout: 50_000 }).toBe(200);
    }
  });

  it('reports a secret that is not set, and changes nothing', async () => {
    const processes = async () => {
      const rows = await sql<{ process: string }[]>`
        select process from recorder.processes where recorder = 'recorder' and left_at is null`;
      return rows.map(({ process }) => process);
    };
    const before = await processes();
    const sink = { name: 'lake', type: 'webhook', url: `http://127.0.0.1:1/\${LAKE_KEY}` };
    write(2, '30s', { ...withWebhook(HOOK_KEY), changes: { sinks: [sink] } });
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('0');
    expect(await ready()).toBe(200);
    expect(await processes()).toEqual(before);
    // A reload without a change succeeds: a later test waits for the next failure.
    write(2, '30s', withWebhook(HOOK_KEY));
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('1');
  });

  it('returns to the old file if the database refuses the new one', async () => {
    // Another recorder of this name records another network here.
    await sql`insert into recorder.configurations (recorder, digest, network, generation, newest, first_seen_at)
      values ('other', 'd', 'fuji', 1, true, now())`;
    await sql`insert into recorder.processes (process, recorder, digest, roles, started_at, seen_at)
      values ('p', 'other', 'd', '{worker}', now(), now() + interval '1 hour')`;
    write(2, '30s', { ...withWebhook(HOOK_KEY), name: 'other' });
    up.process.kill('SIGHUP');
    await expect.poll(lastReloadSuccessful, { timeout: 50_000 }).toBe('0');
    await expect.poll(ready, { timeout: 50_000 }).toBe(200);
    const [row] = await sql`select count(*)::int as running from reporting_internal.processes
      where recorder = 'recorder' and state = 'running'`;
    expect(row).toEqual({ running: 1 });
  });
});

describe('a second SIGHUP', () => {
  it('is applied while the first one is being refused', async () => {
    await sql.unsafe(`create table public.held (subject text); grant usage on schema public to recorder_reader;
      grant select on public.held to recorder_reader`);
    const holder = postgres(database.url, { max: 1, onnotice: () => {} });
    await holder.unsafe('begin; lock table public.held');
    const rules = [
      { name: 'wrong', sql: 'select nothing from reporting.alerts' },
      { name: 'waits', sql: 'select subject from public.held' },
    ];
    const { alerts, server } = withWebhook('second');
    write(2, '30s', { alerts: { ...alerts, rules } });
    up.process.kill('SIGHUP');
    const countWaiting = async () => (await sql`select from pg_locks where not granted`).length;
    await expect.poll(countWaiting, { timeout: 50_000 }).toBe(1);
    write(2, '30s', { alerts, server });
    up.process.kill('SIGHUP');
    const title = async () => /<title>(.*?)<\/title>/.exec((await get('/status')).text)?.[1];
    await expect.poll(title, { timeout: 50_000 }).toBe('second');
    await holder.end({ timeout: 1 });
    expect(up.process.exitCode).toBe(null);
  });
});

describe('systemd', () => {
  it.skipIf(noNotifySocket)(
    `is notified that up is ready, running and reloading${noNotifySocket}`,
    async () => {
      const signs = () => socket?.assignments.filter((one) => /^[A-Z]+=1$/.test(one)) ?? [];
      await expect.poll(signs, { timeout: 50_000 }).toContain('WATCHDOG=1');
      const [first, ...rest] = signs().filter((one) => one !== 'WATCHDOG=1' && one !== 'BARRIER=1');
      expect(first).toBe('READY=1');
      // Reloaded five times, once more with a rollback, and once more over another file.
      const over = ['RELOADING=1', 'READY=1'];
      expect(rest).toEqual([
        ...over,
        ...over,
        ...over,
        ...over,
        ...over,
        'RELOADING=1',
        ...over,
        'RELOADING=1',
        ...over,
      ]);
    },
  );

  it('stops it in order, and the log has the changes and the problems', async () => {
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain(HOOK_KEY);
    if (socket) await expect.poll(() => socket?.assignments).toContain('STOPPING=1');
    const lines = stderr.split('\n').filter((line) => line.includes('onfiguration'));
    const log = lines.map((line): Record<string, unknown> => JSON.parse(line));
    const reloads = log.filter(({ changes }) => changes !== undefined).map(({ changes }) => changes);
    expect(reloads).toEqual([
      [`upstreams.nodes[${nodes(2)[1]}]: added`, 'datasets.node_health.every: 60000 → 30000'],
      ['server.status.title: Status of the nodes → first', 'alerts.channels[hook]: added'],
      ['server.status.title: first → [redacted]'],
      ['server.status.title: [redacted] → without', 'alerts.channels[hook]: taken out'],
      ['server.status.title: without → [redacted]', 'alerts.channels[hook]: added'],
      ['name: recorder → other'],
      [
        'server.status.title: [redacted] → Status of the nodes',
        'alerts.rules[wrong]: added',
        'alerts.rules[waits]: added',
      ],
      [
        'server.status.title: Status of the nodes → second',
        'alerts.rules[wrong]: taken out',
        'alerts.rules[waits]: taken out',
      ],
    ]);
    const problems = log.flatMap(({ problems: found }) => (Array.isArray(found) ? [found.join(' ')] : []));
    expect(problems[0]).toContain('datasets.node_health.every');
    expect(problems).toEqual([
      expect.stringMatching(/no such setting; did you mean watch\?/),
      expect.stringContaining('no-such-file.svg'),
      'changes.sinks[0].url: LAKE_KEY is not set',
      expect.stringContaining('records fuji in this database'),
      expect.stringMatching(/^alerts\.rules\[0\]\.sql: column "nothing" does not exist/),
    ]);
  });
});
