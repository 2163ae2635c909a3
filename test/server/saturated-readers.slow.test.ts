import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import postgres from 'postgres';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A table that this configuration does not record: only readers wait for it. */
const LOCKED_TABLE = 'recorder.nft_tokens';
const SLOW = ['/datasets/nft_tokens', '/api/v1/datasets/nft_tokens/rows'];
const QUESTION = '/query?sql=select+*+from+nft_tokens';

const agent = new Agent({ connections: 600 });
const { it, database, sql } = withDatabase();
let sandbox: Sandbox;
const dir = temporaryFolder('saturated');
let up: Running;
let port: number;

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false });
  port = await findFreePort();
  const nodes = sandbox.watch.nodes.slice(0, 2).map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const config = {
    network: 'sandbox',
    upstreams: { nodes },
    datasets: { chain_heights: { every: '5s' }, node_health: { every: '5s' } },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
  up = startCommand(['up'], { DATABASE_URL: database.url, RECORDER_PORT: String(port) }, dir);
});
afterAll(async () => {
  up.process.kill('SIGKILL');
  await agent.destroy();
  await sandbox.close();
});

/** Status of a response, read to its end; 0: the connection was closed. */
async function status(path: string): Promise<number> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { dispatcher: agent });
    await body.dump();
    return statusCode;
  } catch {
    return 0;
  }
}

/** Connections whose request never ends. */
function endless(count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      return socket;
    }),
  );
}

/** The number of sessions that wait for the table, by their purpose. */
async function countWaiting(): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ name: string; sessions: number }[]>`
    select application_name as name, count(*)::int as sessions from pg_locks join pg_stat_activity using (pid)
    where relation = ${LOCKED_TABLE}::regclass and not granted group by 1`;
  return Object.fromEntries(rows.map(({ name, sessions }) => [name, sessions]));
}
/** Many readers hold something all the time: the number follows from its share of the process's time. */
const waitingReaders = { 'chain-recorder reader': expect.any(Number) };

/** The recorded data so far: the ended runs, and the probes of each node. */
async function countRecorded() {
  const [{ runs } = { runs: 0 }] = await sql<{ runs: number }[]>`
    select count(*)::int as runs from reporting.runs where dataset = 'chain_heights' and status = 'done'`;
  const probesByNode = await sql<{ node: string; probes: number }[]>`
    select node, probes::int as probes from reporting_internal.node_probes where probe = 'health' order by node`;
  return { runs, probesByNode };
}

describe('while many readers hold all their connections', () => {
  it('runs are committed and nodes are observed, on connections that no reader uses', async () => {
    await Promise.race([
      expect.poll(() => status('/ready'), { timeout: 50_000 }).toBe(200),
      up.ended.then(({ stderr }) => expect.fail(stderr)),
    ]);
    await expect.poll(countRecorded, { timeout: 50_000 }).toMatchObject({ probesByNode: [{}, {}] });
    /** Responses to reads, by status. */
    const answers = new Map<number, number>();
    const load = { over: false };
    const often = async (send: () => Promise<unknown>) => {
      while (!load.over) await send();
    };
    const read = async (at: number) => {
      const code = await status(String(SLOW[at % SLOW.length]));
      answers.set(code, (answers.get(code) ?? 0) + 1);
    };
    const flood = () =>
      Promise.all([
        often(() => Promise.all(Array.from({ length: 400 }, (_, at) => read(at)))),
        often(() => Promise.all(Array.from({ length: 100 }, () => status(QUESTION)))),
      ]);
    const locker = postgres(database.url, { max: 1, onnotice: () => {} });
    const idle = await endless(100);
    let flooding: Promise<unknown> = Promise.resolve();
    try {
      await locker.begin(async (holding) => {
        await holding`lock table ${holding(LOCKED_TABLE)} in access exclusive mode`;
        flooding = flood();
        await expect.poll(countWaiting, { timeout: 50_000 }).toMatchObject(waitingReaders);
        const before = await countRecorded();
        const further = ({ runs, probesByNode }: typeof before) =>
          runs >= before.runs + 6 &&
          probesByNode.every(({ probes }, at) => probes >= (before.probesByNode[at]?.probes ?? 0) + 3);
        await expect.poll(async () => further(await countRecorded()), { timeout: 60_000 }).toBe(true);
        // The same load all the time: no reader was admitted, and rejected ones got a time to retry.
        await expect.poll(countWaiting, { timeout: 50_000 }).toMatchObject(waitingReaders);
        expect([...answers.keys()].filter((code) => code !== 503 && code !== 504)).toEqual([]);
        expect(answers.get(503)).toBeGreaterThan(50);
        expect(await countWaiting()).not.toHaveProperty('chain-recorder');
        const queries = await sql`
          select application_name, query from pg_stat_activity
          where application_name = 'chain-recorder' and query ~ 'nft_tokens'`;
        expect([...queries]).toEqual([]);
        expect(await Promise.all(['/health', '/ready', '/metrics'].map(status))).toEqual([200, 200, 200]);
        load.over = true;
      });
    } finally {
      load.over = true;
      await locker.end({ timeout: 1 });
      await flooding;
      for (const socket of idle) socket.destroy();
    }
    const failed =
      await sql`select dataset, status, error from reporting.runs where status not in ('done', 'running')`;
    expect([...failed]).toEqual([]);
    // Waiting readers are admitted again.
    await expect.poll(() => status('/datasets/nft_tokens'), { timeout: 50_000 }).toBe(200);
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
  });
});
