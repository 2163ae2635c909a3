import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { openQueuePool } from '../../src/db/queue-pool.ts';
import { LOCKS, withRowLock } from '../../src/db/row-lock.ts';
import {
  createPostgresBackend,
  DEFAULT_SCHEMA,
  isPgPool,
  runMigrations,
  withBackend,
} from '../../src/jobs/bullmq.ts';
import { postgresBackend } from '../../src/jobs/postgres-backend.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);

/** Timeout of the pool for a response, in ms. */
const SILENCE = 1_000;

let database: TestDatabase;
let proxy: TcpProxy;
let pool: Pool;
beforeAll(async () => {
  database = await emptyDatabase();
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
  pool = openQueuePool(proxy.before(database.url), DEFAULT_SCHEMA, () => {}, SILENCE);
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
});
afterAll(async () => {
  await pool.end();
  await proxy.close();
  await database.close();
});

/** Drops the server's response to a statement, with everything after it. @returns resolves once it was sent */
function loseResponseTo(lost: RegExp): Promise<void> {
  return new Promise((resolve) => {
    proxy.decide((statement) => {
      if (!lost.test(statement)) return 'forward';
      proxy.decide(null);
      queueMicrotask(() => {
        proxy.silenceMarked();
        resolve();
      });
      return 'mark';
    });
  });
}

it('a connection that did not respond is not used again, and its statement is lost', async () => {
  const client = await pool.connect();
  const silent = loseResponseTo(/^select 'unanswered'/);
  const error = await client.query("select 'unanswered'").catch((failure: unknown) => failure);
  await silent;
  client.release();
  expect(isDatabaseUnavailable(error)).toBe(true);
  const { rows } = await pool.query<{ n: number }>('select 1 as n');
  expect(rows).toEqual([{ n: 1 }]);
});

it('a connection that only listens may be silent without limit', async () => {
  const listening = await pool.connect();
  let lost = false;
  listening.on('end', () => {
    lost = true;
  });
  await listening.query('listen quiet');
  for (let time = 0; time < 3; time++) await pool.query(`select pg_sleep(${(SILENCE / 1_000) * 0.7})`);
  expect(lost).toBe(false);
  const notification = once(listening, 'notification');
  await pool.query("select pg_notify('quiet', 'heard')");
  expect(await notification).toMatchObject([{ payload: 'heard' }]);
  listening.release(true);
});

it('a worker executes jobs though the server never responded to LISTEN', async () => {
  if (!isPgPool(pool)) throw new Error('no pool');
  const silent = loseResponseTo(/LISTEN bullmq_jobs/);
  const queue = new Queue('work', { connection: pool });
  const worker = new Worker('work', async () => {}, { connection: pool });
  worker.on('error', () => {});
  const done = new Promise((resolve) => worker.once('completed', resolve));
  await silent;
  await queue.add('one', {});
  await done;
  await worker.close();
  await queue.close();
}, 20_000);

it('starts and works while a reader holds every advisory lock of BullMQ', async () => {
  const own = await emptyDatabase();
  const role = `reader_${randomBytes(4).toString('hex')}`;
  const admin = postgres(own.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create role ${role} login password 'secret'`);
  const reader = postgres(own.url.replace(/\/\/[^@]*@/, `//${role}:secret@`), { max: 1 });
  const single = ['jidseq', 'concurrency', 'limiter', 'evtrim', 'evnotify'].map(
    (name) => `bullmq:${name}:polls`,
  );
  const ids = Array.from({ length: 20 }, (_, id) => `bullmq:parent:polls:${id}`);
  for (const key of [...single, ...ids, 'bullmq:dedup:polls:one'])
    await reader`select pg_advisory_lock(hashtext(${key}))`;
  await reader`select pg_advisory_lock(hashtext('bullmq:finalization'), hashtext('polls'))`;
  await reader`select pg_advisory_lock(${0x42554c4c}, hashtext('bullmq'))`;

  const backend = await postgresBackend(own.url, () => {}, AbortSignal.timeout(20_000));
  const connection = openQueuePool(own.url, DEFAULT_SCHEMA, () => {});
  if (!isPgPool(connection)) throw new Error('no pool');
  const polls = new Queue('polls', { connection });
  const ended: string[] = [];
  const worker = new Worker(
    'polls',
    async (job) => {
      if (job.name === 'fails') throw new Error('as meant');
    },
    { connection },
  );
  worker.on('completed', ({ name }) => ended.push(`completed ${name}`));
  worker.on('failed', (job) => ended.push(`failed ${job?.name}`));
  await polls.add('works', {});
  await polls.add('fails', {});
  await polls.add('once', {}, { deduplication: { id: 'one' } });
  await expect.poll(() => ended.toSorted()).toEqual(['completed once', 'completed works', 'failed fails']);
  const [locks] = await admin`
    select count(*)::int as n from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  expect(locks?.n).toBe(single.length + ids.length + 3);

  await worker.close();
  await polls.close();
  await connection.end();
  await backend.close();
  await reader.end();
  await admin.unsafe(`drop role ${role}`);
  await admin.end();
  await own.close();
});

it('opens no session of the queue while another process creates the functions, and reports the wait', async () => {
  const own = await emptyDatabase();
  const sent: string[] = [];
  const opened = await withRowLock(own.url, LOCKS.queue, async () => {
    proxy.decide((statement) => {
      sent.push(statement);
      return 'forward';
    });
    let report = (_: Error) => {};
    const reported = new Promise<Error>((resolve) => {
      report = resolve;
    });
    const opening = postgresBackend(
      proxy.before(own.url),
      (error) => report(error),
      AbortSignal.timeout(20_000),
    );
    expect(await Promise.race([reported, opening])).toEqual(
      new Error('waiting for another process, which creates the tables of the queue'),
    );
    expect(sent.filter((statement) => statement.includes(DEFAULT_SCHEMA))).toEqual([]);
    return { opening };
  });
  const backend = await opened?.opening;
  proxy.decide(null);
  expect(sent.filter((statement) => statement.includes(DEFAULT_SCHEMA))).not.toEqual([]);
  await backend?.close();
  await own.close();
});

it('creates the lock functions once from many processes at once', async () => {
  const own = await emptyDatabase();
  const opened = await Promise.all(
    Array.from({ length: 4 }, () => postgresBackend(own.url, () => {}, AbortSignal.timeout(20_000))),
  );
  await Promise.all(opened.map((backend) => backend.close()));
  await own.close();
});
