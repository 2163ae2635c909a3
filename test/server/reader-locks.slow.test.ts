import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findForeignLocks } from '../../src/db/blocking-sessions.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { queueNames } from '../../src/jobs/jobs.ts';
import { TemporaryError } from '../../src/lib/errors.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

/** Minimum time for which the locks are held, s. A minute: HOLD_SECONDS=60 npx vitest run test/server/reader-locks.slow.test.ts */
const HOLD_SECONDS = Number(process.env.HOLD_SECONDS ?? 10);
const HOOK_KEY = 'correct-horse-battery';
/** Refused migrations give up after this time; one that only waits for its readers completes. */
const REFUSED_AFTER_MS = 10_000;
const WAITING_MS = 200_000;
const PATHS = [
  '/health',
  '/ready',
  '/metrics',
  '/status',
  '/',
  '/runs',
  '/alerts',
  '/datasets/chain_heights',
  '/api/v1/status',
  '/api/v1/datasets/chain_heights/rows',
];

const { it, database, sql } = withDatabase();
let sandbox: Sandbox;
let hook: UpstreamServer;
const dir = temporaryFolder('locked');
let up: Running;
let port: number;
const env = { DATABASE_URL: database.url, HOOK_KEY };
const connectReader = (name: string) =>
  postgres(database.url, { max: 1, onnotice: () => {}, connection: { application_name: name } });

beforeAll(async () => {
  [sandbox, hook] = await Promise.all([
    startSandbox({ incidents: false }),
    upstreamServer((_, response) => response.writeHead(200).end()),
  ]);
  await sql`create table public.ill (subject text primary key)`;
  await sql`grant select on public.ill to recorder_reader`;
  port = await findFreePort();
  const nodes = sandbox.watch.nodes.slice(0, 2).map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const config = {
    network: 'sandbox',
    upstreams: { nodes },
    datasets: { chain_heights: { every: '5s' }, node_health: { every: '5s' } },
    alerts: {
      channels: [{ name: 'ops', type: 'webhook', url: `${hook.url}/\${HOOK_KEY}` }],
      rules: [{ name: 'ill', sql: "select subject, 'is ill' as summary from public.ill", every: '5s' }],
    },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
  up = startCommand(['up'], { ...env, RECORDER_PORT: String(port) }, dir);
});
afterAll(async () => {
  up.process.kill('SIGKILL');
  await Promise.all([sandbox.close(), hook.close()]);
});

async function get(path: string): Promise<number> {
  return request(`http://127.0.0.1:${port}${path}`).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    () => 0,
  );
}

/** Amounts that grow while the recorder works. */
async function progress() {
  const [row] = await sql<{ runs: number; probes: number; settled: number }[]>`
    select (select count(*)::int from reporting.runs where dataset = 'chain_heights' and status = 'done') as runs,
      (select coalesce(min(probes), 0)::int from reporting_internal.node_probes where probe = 'health') as probes,
      (select coalesce(max(extract(epoch from heartbeat_at)), 0)::int from recorder.health_observers) as settled`;
  return row ?? { runs: 0, probes: 0, settled: 0 };
}

const FOUND = z.array(z.looseObject({ ok: z.boolean(), found: z.string() }));
const messages = z.looseObject({ rule: z.string(), kind: z.string() });
const sentKinds = () => {
  const all = hook.received.map(({ body }) => messages.parse(JSON.parse(body)));
  return all.filter(({ rule }) => rule === 'ill').map(({ kind }) => kind);
};
const views = async () => {
  const rows = await sql<{ name: string }[]>`
    select format('reporting.%I', relname) as name from pg_class
    where relnamespace = 'reporting'::regnamespace and relkind = 'v'`;
  return rows.map(({ name }) => name);
};

/** The locks that a reader may hold, by the name of its session. */
async function lockable(): Promise<Readonly<Record<string, string>>> {
  const names = await views();
  const queues = sql.array(Object.values(queueNames('recorder')));
  const [keys] = await sql<{ keys: string }[]>`
    select string_agg(hashtext('bullmq:' || kind || ':' || queue)::text, ', ') as keys
    from unnest(array['limiter', 'jidseq', 'concurrency', 'evnotify', 'evtrim']) kind, unnest(${queues}) queue`;
  return {
    'idle-transaction': names.map((name) => `select from ${name} limit 0`).join('; '),
    'table-locks': `lock table ${names.join(', ')} in access share mode`,
    'old-snapshot': 'set transaction isolation level repeatable read; select from reporting.runs',
    'open-cursor': 'declare rows cursor for select * from reporting.runs; fetch 1 from rows',
    'advisory-locks': `select pg_advisory_lock(key) from unnest(array[${keys?.keys}]) key; select pg_advisory_lock(n), pg_advisory_lock(n, n)
      from generate_series(-500, 500) n`,
  };
}

/** Locks that would block the recorder, which a reader is refused. */
const REFUSED = [
  'lock table reporting.runs in row share mode',
  'lock table reporting.runs in access exclusive mode',
  'select from reporting.runs for key share',
  'lock table recorder.targets in access share mode',
  'select from recorder.targets for update',
  'select from recorder_locks.locks for update',
  'lock table pg_catalog.pg_class in row exclusive mode',
];

/** Runs an action while sessions of a reader hold their locks, until it is done and every page responded meanwhile. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const sessions = Object.entries(await lockable()).map(([name, statements]) => ({
    statements,
    session: connectReader(name),
  }));
  const over = new AbortController();
  const failed: string[] = [];
  const readPages = async () => {
    // A page that waits for a lock does not respond before the sessions end: then this does not end, either.
    do {
      for (const path of PATHS) {
        const code = await get(path);
        if (code !== 200) failed.push(`${path}: ${code}`);
      }
    } while (!over.signal.aborted);
  };
  try {
    for (const { session, statements } of sessions)
      await session.unsafe(`begin; set local role recorder_reader; ${statements}`);
    const pages = readPages();
    await work().finally(() => over.abort());
    await pages;
  } finally {
    await Promise.all(sessions.map(({ session }) => session.end({ timeout: 1 })));
  }
  expect(failed).toEqual([]);
}

const doctor = async () => {
  const { stdout } = await startCommand(['doctor', '--json'], env, dir).ended;
  return FOUND.parse(JSON.parse(stdout)).filter(({ found }) => found.startsWith('a session'));
};

describe('while readers hold every lock that they can acquire', () => {
  it('recording, the ledger, alerts and pages continue, and doctor names the sessions', async () => {
    await expect.poll(() => get('/ready'), { timeout: 60_000 }).toBe(200);
    for (const path of PATHS) expect([path, await get(path)]).toEqual([path, 200]);
    for (const statement of REFUSED) {
      const session = connectReader('refused');
      const locking = session.unsafe(`begin; set local role recorder_reader; ${statement}`);
      await expect(locking, statement).rejects.toThrow(/permission denied/);
      await session.end({ timeout: 1 });
    }
    await whileLocked(async () => {
      const start = performance.now();
      const before = await progress();
      const { count } = await sql`select from pg_locks where locktype = 'advisory' and granted`;
      expect(count).toBeGreaterThan(2_000);
      await sql`insert into public.ill values ('a node')`;
      const went = async () => {
        const { runs, probes, settled } = await progress();
        return (
          performance.now() - start > HOLD_SECONDS * 1_000 &&
          runs >= before.runs + 4 &&
          probes >= before.probes + 3 &&
          settled > before.settled + 5
        );
      };
      await expect.poll(went, { timeout: 60_000 + HOLD_SECONDS * 1_000 }).toBe(true);
      await expect.poll(sentKinds, { timeout: 50_000 }).toEqual(['firing']);
      const named = (await findForeignLocks(sql, HOLD_SECONDS / 2)).map(({ application }) => application);
      expect(named.toSorted()).toEqual(Object.keys(await lockable()).toSorted());
      if (HOLD_SECONDS > 60) expect(await doctor()).toHaveLength(named.length);
    });
    const failed =
      await sql`select dataset, status, error from reporting.runs where status not in ('done', 'running')`;
    expect([...failed]).toEqual([]);
  }, 240_000);

  it('a migration is refused with their sessions, and they do not delay pages behind it', async () => {
    const changed = declaredObjects().map((object) =>
      object.name === 'runs' ? { ...object, body: `select * from (${object.body}) as changed` } : object,
    );
    const startMigration = (timeout: number) => migrateDatabase(database.url, changed, { timeout });
    let waiting: Promise<unknown> | undefined;
    await whileLocked(async () => {
      const before = await progress();
      const refused = await startMigration(REFUSED_AFTER_MS).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(TemporaryError);
      expect(String(refused)).toMatch(
        /for 10 s its tables or views were locked by process \d+.*idle-transaction.*pg_terminate_backend/,
      );
      waiting = startMigration(WAITING_MS);
      await expect
        .poll(async () => (await doctor()).map(({ ok }) => ok), { timeout: 120_000 })
        .toContain(false);
      await expect
        .poll(async () => (await progress()).runs, { timeout: 50_000 })
        .toBeGreaterThan(before.runs);
      await expect
        .poll(async () => (await progress()).probes, { timeout: 50_000 })
        .toBeGreaterThan(before.probes);
    });
    await waiting;
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
  }, 240_000);
});
