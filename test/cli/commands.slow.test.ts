import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { COMMIT } from '../../chaos/faults/database.ts';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { recorded, recordedNamed } from '../../src/reporting/recorded-datasets.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { runCommand } from '../support/command-line.ts';
import { testDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { sendJson, upstreamServer } from '../support/upstream-server.ts';

const KEY = 'canary-7c1d9e4b';
const day = 86_400_000;
const POLL_OPTIONS = { timeout: 120_000 };

const { it, database, sql } = withDatabase();
let sandbox: Sandbox;
const dir = temporaryFolder('commands');
const running = new Set<Running>();

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false, blocksPerHour: 12 });
  configure('recorder.yaml', sandbox.url);
  configure('beyond.yaml', sandbox.url, undefined, { perDay: 2000 });
});
afterAll(async () => {
  for (const { process } of running) process.kill('SIGKILL'); // those of a test that failed
  await sandbox.close();
});

/** Writes a configuration whose three services are below one URL. */
function configure(file: string, url: string, node = '/nodes/x', budget?: object): void {
  const [first] = sandbox.watch.nodes;
  const service = { url, apiKeyHeader: 'x-key', ...(budget ? { budget } : {}) };
  const config = {
    network: 'sandbox',
    upstreams: {
      chainData: service,
      metrics: service,
      nodes: [{ name: 'validator-1', url: url + (first?.path ?? node) }],
    },
    watch: { chains: sandbox.watch.chains.slice(0, 1), nodeIds: sandbox.watch.nodeIds.slice(0, 1) },
    datasets: { metric_points: { metrics: ['txCount'], intervals: ['day'] } },
  };
  writeFileSync(join(dir, file), stringify(config));
}

const environment = () => ({
  DATABASE_URL: database.url,
  CHAIN_DATA_API_KEY: KEY,
  METRICS_API_KEY: KEY,
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const command = startCommand(args, { ...environment(), ...env }, dir);
  running.add(command);
  return command;
}
/** Runs a command in its own process, for its log and its exit code. */
const spawnCommand = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => start(args, env).ended;
const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runCommand(args, { ...environment(), ...env }, dir);

const runs = z.object({
  runs: z.array(
    z.looseObject({
      status: z.string(),
      error: z.string().nullable(),
      rows_written: z.record(z.string(), z.number()),
    }),
  ),
});

describe.concurrent('a command', () => {
  it('with an invalid configuration reports all problems at once, and exits 2', async () => {
    writeFileSync(
      join(dir, 'broken.yaml'),
      stringify({
        network: 'moonnet',
        upstreams: {
          metrics: { url: `http://user:${KEY}@example.org` },
          nodes: [{ name: 'one', url: 'one' }],
        },
        watch: { chains: [43114] },
        datasets: { node_health: { every: 'soon' }, no_such_dataset: {} },
      }),
    );
    const { code, stdout, stderr } = await spawnCommand(['record', 'node_health', '--config', 'broken.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.trim().split('\n');
    expect(lines.every((line) => line.startsWith('broken.yaml: '))).toBe(true);
    expect(lines.map((line) => line.split(': ')[1]).sort()).toEqual([
      'datasets.no_such_dataset',
      'datasets.node_health.every',
      'network',
      'upstreams.metrics.url',
      'upstreams.nodes[0].url',
      'watch.chains[0]',
    ]);
    expect(stderr).not.toContain(KEY);
  });

  // Errors of each command: options.test.ts.
  it.each([
    [['no-such-command'], 'no-such-command'],
    [['sandbox', '--port', '65536'], '--port must be a whole number, at most 65535'],
    [['record', 'node_identity', '--no-such-option'], 'no-such-option'],
    [['record', 'node_identity', '--target', 'node=nobody'], 'no target matches'],
  ])('with invalid arguments exits 2 and reports the reason: %j', async (args, message) => {
    // The sandbox is a separate program, which the command line loads from the package.
    const { code, stderr } = await (args[0] === 'sandbox' ? spawnCommand : command)(args);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('with a whole file as a value repeats only its start', async () => {
    const { code, stderr } = await command(['report', 'sla', '--month', 'x'.repeat(50_000)]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^--month x{200}… must be a month such as 2026-11\n$/);
  });

  it('whose database is unavailable fails with a reason, and without its password', async () => {
    const unreachable = await spawnCommand(['coverage'], {
      DATABASE_URL: `postgres://nobody:${KEY}@127.0.0.1:1/none`,
    });
    expect(unreachable.code).not.toBe(0);
    expect(unreachable.stderr).not.toContain(KEY);
    expect(unreachable.stderr).not.toBe('');
  });
});

describe('datasets', () => {
  it('lists every recorded dataset', async () => {
    const { code, stdout } = await command(['datasets', '--json']);
    expect(code).toBe(0);
    const listed = z
      .array(z.looseObject({ name: z.string(), history: z.string() }))
      .parse(JSON.parse(stdout));
    expect(listed.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
  });
});

describe('plan', () => {
  it('prints the requests of the schedules', async () => {
    const { code, stdout } = await command(['plan', '--json']);
    expect(code).toBe(0);
    const plan = z
      .object({
        schedules: z.array(
          z.looseObject({
            datasets: z.string(),
            targets: z.number(),
            calls_per_hour: z.number(),
            units_per_day: z.number(),
          }),
        ),
      })
      .parse(JSON.parse(stdout));
    const blocks = plan.schedules.find(({ datasets }) => datasets === 'proposed_blocks');
    expect(blocks).toMatchObject({ targets: 3 });
    expect(blocks?.calls_per_hour).toBeGreaterThan(0);
    expect(blocks?.units_per_day).toBeGreaterThan(0);
  });
});

describe.concurrent('record', () => {
  it.each([
    'node_identity',
    'node_reported_uptime',
    'validators',
    'node_health',
    'metric_points',
    'average_tps',
  ])('records %s, and reports the result', async (dataset) => {
    const { code, stdout, stderr } = await command(['record', dataset, '--json']);
    expect(code, stderr).toBe(0);
    const made = runs.parse(JSON.parse(stdout)).runs;
    expect(made.length).toBeGreaterThan(0);
    expect(made.every(({ status }) => status === 'done')).toBe(true);
    const [stored] = await sql<
      { rows: number }[]
    >`select count(*)::int as rows from reporting.${sql(recordedNamed(dataset)?.relation ?? dataset)}`;
    const written = made.reduce((sum, run) => sum + (run.rows_written[dataset] ?? 0), 0);
    expect(written).toBeGreaterThan(0);
    expect(stored?.rows).toBe(written);
  });

  it('prints a table for people', async () => {
    // No other run records it meanwhile: a target that another run holds is busy.
    const { code, stdout } = await command(['record', 'chain_heights']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run +target.*\n.*node=validator-1.*done/);
  });
});

describe('an upstream that responds with HTML', () => {
  it('fails the run with the reason; other datasets continue', async () => {
    sandbox.faults.until({ service: 'metrics' }, 'html', Number.POSITIVE_INFINITY);
    const [failing, going] = await Promise.all([
      command(['record', 'average_tps', '--json']),
      command(['record', 'node_identity', '--json']),
    ]);
    sandbox.faults.clear();
    expect(failing.code).toBe(75);
    expect(runs.parse(JSON.parse(failing.stdout)).runs).toMatchObject([
      { status: 'failed', error: 'HTTP 200 with text/html instead of JSON' },
    ]);
    expect(going.code).toBe(0);
  });
});

describe('backfill', () => {
  it('continues where a kill stopped it: every block once, none missing', async () => {
    // The newest three days may still change: a backfill fetches them every time.
    const to = Math.floor(Date.now() / day) * day - 4 * day;
    const from = to - 90 * day;
    const range = ['--from', new Date(from).toISOString(), '--to', new Date(to).toISOString()];
    const args = ['backfill', 'proposed_blocks', ...range, '--target', 'blockchainId=p-chain', '--json'];
    const countRows = async () => {
      const [row] = await sql<{ rows: number }[]>`
        select count(*)::int as rows from recorder.proposed_blocks where blockchain_id = 'p-chain'`;
      return row?.rows ?? 0;
    };
    const proxy = await TcpProxy.open(Number(new URL(database.url).port));
    for (const verdict of ['cut-before', 'forward', 'lose'] as const) {
      const killed = start(args, { DATABASE_URL: proxy.before(database.url) });
      let commits = 0;
      proxy.decide((statement) => {
        if (statement.includes(COMMIT)) commits += 1;
        if (commits < 3) return 'forward';
        killed.process.kill('SIGKILL');
        return verdict;
      });
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
    }
    await proxy.close();
    // PostgreSQL completes a statement that the killed process had sent.
    await expect
      .poll(async () => {
        const sessions = await sql`
          select 1 from pg_stat_activity where datname = current_database() and application_name = 'chain-recorder'`;
        return sessions.length;
      })
      .toBe(0);
    // A recorder that polls the index has seen newer blocks, so that the end of the range can be claimed.
    const targets = await sql`
      update recorder.targets set newest_item_at = ${new Date(to)} where source = 'proposed-blocks' and newest_item_at is not null`;
    expect(targets.count).toBe(1);
    const before = await countRows();
    const { code, stdout, stderr } = await command(args);
    expect(code, stderr).toBe(0);
    const last = runs.parse(JSON.parse(stdout)).runs;
    const truth = await allBlocks(from, to);
    expect(truth.length).toBeGreaterThan(20_000);
    expect(before, 'it was killed after it had started').toBeGreaterThan(0);
    expect(before, 'it was killed before it was done').toBeLessThan(truth.length);
    // Items of a page outside its window are stored too: the edge may have a block more or less.
    expect(last.reduce((sum, run) => sum + (run.rows_written.proposed_blocks ?? 0), 0)).toBe(
      (await countRows()) - before,
    );
    const rows = await sql<{ hash: string }[]>`
      select block_hash as hash from reporting.proposed_blocks where blockchain_id = 'p-chain'
        and block_timestamp >= ${new Date(from)} and block_timestamp < ${new Date(to)} order by 1`;
    expect(rows.map(({ hash }) => hash)).toEqual(truth.sort());

    expect(runs.parse(JSON.parse((await command(args)).stdout)).runs, 'nothing is left').toEqual([]);
    const covered = await command(['coverage', 'proposed_blocks', '--json']);
    expect(covered.code).toBe(0);
    expect(JSON.parse(covered.stdout).ranges).toContainEqual(
      expect.objectContaining({
        dataset: 'proposed_blocks',
        range_start: new Date(from).toISOString(),
        range_end: new Date(to).toISOString(),
        reason: 'recorded',
      }),
    );
  });

  /** Returns the hashes of the blocks of a range, as the sandbox serves them page by page. */
  async function allBlocks(from: number, to: number): Promise<string[]> {
    const page = z.object({
      blocks: z.array(z.looseObject({ blockHash: z.string(), blockTimestamp: z.number() })),
      nextPageToken: z.string().optional(),
    });
    const hashes: string[] = [];
    const [nodeId] = sandbox.watch.nodeIds;
    const url = new URL(`${sandbox.url}/v1/networks/sandbox/blockchains/p-chain/nodes/${nodeId}/blocks`);
    url.searchParams.set('startTimestamp', String(from / 1000 - 1));
    url.searchParams.set('endTimestamp', String(to / 1000));
    url.searchParams.set('pageSize', '100');
    for (;;) {
      const { body } = await request(url, { headers: { 'x-key': KEY } });
      const { blocks, nextPageToken } = page.parse(await body.json());
      for (const { blockHash, blockTimestamp } of blocks)
        if (blockTimestamp * 1000 >= from && blockTimestamp * 1000 < to) hashes.push(blockHash);
      if (!nextPageToken) return hashes;
      url.searchParams.set('pageToken', nextPageToken);
    }
  }
});

describe('doctor', () => {
  it('reports a healthy recorder, and the fix of each problem', async () => {
    const findings = z.array(z.object({ check: z.string(), ok: z.boolean(), found: z.string() }));
    // A separate database: the records of the tests above may be late by now.
    const fresh = await testDatabase();
    const healthy = await command(['doctor', '--json'], { DATABASE_URL: fresh.url });
    expect(findings.parse(JSON.parse(healthy.stdout)).filter(({ ok }) => !ok)).toEqual([]);
    expect(healthy.code).toBe(0);
    configure('dead.yaml', 'http://127.0.0.1:1');
    const ill = await command(['doctor', '--json', '--config', 'dead.yaml'], { DATABASE_URL: fresh.url });
    await fresh.close();
    expect(ill.code).toBe(1);
    const wrong = findings.parse(JSON.parse(ill.stdout)).filter(({ ok }) => !ok);
    expect(wrong.map(({ check }) => check).sort()).toEqual(['chainData', 'metrics', 'nodes/validator-1']);
  });
});

describe('schedules that need more than the budget', () => {
  const beyond = /^metrics: the schedules request \d+ units a day, \d+\.\d times the 2000 of its budget/;

  it('are reported by plan and by doctor, which requires a fix', async () => {
    const [plan, doctor, within] = await Promise.all([
      command(['plan', '--json', '--config', 'beyond.yaml']),
      command(['doctor', '--json', '--config', 'beyond.yaml']),
      command(['plan', '--json']),
    ]);
    const planOutput = z.object({ beyond_budget: z.array(z.string()) });
    expect(planOutput.parse(JSON.parse(plan.stdout)).beyond_budget).toContainEqual(
      expect.stringMatching(beyond),
    );
    expect(planOutput.parse(JSON.parse(within.stdout)).beyond_budget).toEqual([]);
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout)).toContainEqual({
      check: 'budget',
      ok: false,
      found: expect.stringMatching(beyond),
    });
  });
});

describe('up', () => {
  it('records, serves requests, reports what its budget does not allow, and stops cleanly', async () => {
    const port = await findFreePort();
    const fresh = await testDatabase();
    const its = postgres(fresh.url, { onnotice: () => {} });
    const up = start(['up', '--config', 'beyond.yaml'], {
      RECORDER_PORT: String(port),
      DATABASE_URL: fresh.url,
    });
    const answers = (path: string) =>
      request(`http://127.0.0.1:${port}${path}`).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        },
        () => null,
      );
    await expect.poll(() => answers('/ready'), POLL_OPTIONS).toBe(200);
    expect(await answers('/health')).toBe(200);
    const metrics = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
    expect(metrics).toContain('chain_recorder_targets{dataset="node_health"}');
    expect(metrics).toMatch(/^nodejs_eventloop_lag_max_seconds \d/m);
    await expect
      .poll(async () => {
        const [row] = await its<{ targets: number }[]>`
            select count(last_success_at)::int as targets
            from reporting.freshness where dataset in ('node_health', 'validator_uptime')`;
        return row?.targets;
      }, POLL_OPTIONS)
      .toBe(4);
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain(KEY);
    expect(stderr).toMatch(/metrics: the schedules request \d+ units a day, \d+\.\d times the 2000/);
    const [runsLeft] = await its`select count(*)::int as running from recorder.runs where status = 'running'`;
    expect(runsLeft).toEqual({ running: 0 });
    await its.end();
    await fresh.close();
  });
});

describe('up whose database closes connections right after they open', () => {
  it('continues once connections last again, and stops cleanly', async () => {
    const fresh = await testDatabase();
    const its = postgres(fresh.url, { onnotice: () => {} });
    const proxy = await TcpProxy.open(Number(new URL(fresh.url).port));
    const up = start(['up'], { RECORDER_PORT: '0', DATABASE_URL: proxy.before(fresh.url) });
    const runs = async () =>
      (await its<{ n: number }[]>`select count(*)::int as n from recorder.runs`)[0]?.n ?? 0;
    await expect.poll(runs, POLL_OPTIONS).toBeGreaterThan(0);
    let cut = 0;
    // The first statements on the reopened connections.
    proxy.decide(() => {
      if (cut >= 5) return 'forward';
      cut += 1;
      return 'cut-before';
    });
    proxy.reset();
    await expect.poll(() => cut, POLL_OPTIONS).toBe(5);
    const before = await runs();
    await expect.poll(runs, POLL_OPTIONS).toBeGreaterThan(before);
    up.process.kill('SIGTERM');
    const { code, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
    await proxy.close();
    await its.end();
    await fresh.close();
  });
});

describe('a key', () => {
  it('is sent to its upstream and to no other, whatever the upstream returns', async () => {
    const server = await upstreamServer(({ url, headers }, response) => {
      const key = String(headers['x-key']);
      if (url.pathname.startsWith('/v1/avg_tps')) {
        response.writeHead(301, { location: `http://127.0.0.1:1/${key}` }).end();
      } else if (url.pathname.includes('/metrics/')) {
        sendJson(response, { message: `the key ${key} may not see ${url.pathname}${url.search}` }, 403);
      } else {
        const item = { blockNumber: key, blockHash: `hash ${key}`, [key]: key };
        sendJson(response, { blocks: [item, { ...item, blockNumber: '1' }] });
      }
    });
    configure('leaky.yaml', server.url);
    const ended = [];
    for (const dataset of ['average_tps', 'metric_points', 'proposed_blocks'])
      ended.push(
        await spawnCommand(['record', dataset, '--config', 'leaky.yaml', '--json'], { LOG_LEVEL: 'trace' }),
      );
    for (const args of [['status'], ['coverage'], ['quarantine', 'list'], ['doctor']])
      ended.push(await spawnCommand([...args, '--config', 'leaky.yaml', '--json'], { LOG_LEVEL: 'trace' }));
    await server.close();
    const toNode = (path: string) => path.includes('/ext/');
    // If a key is refused, doctor tests whether the same service accepts it in another header.
    const carriers = server.received.map(({ url, headers }) => ({
      node: toNode(url.pathname),
      usual: headers['x-key'] === KEY,
      some: Object.values(headers).includes(KEY),
    }));
    expect(carriers).toContainEqual({ node: false, usual: true, some: true });
    expect(carriers).toContainEqual({ node: true, usual: false, some: false });
    for (const { node, some } of carriers) expect(some).toBe(!node);
    expect(ended.slice(0, 2).map(({ code }) => code)).toEqual([1, 1]);
    for (const { stdout, stderr } of ended) expect(stdout + stderr).not.toContain(KEY);
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('recorder', 'bullmq', 'drizzle')`;
    expect(tables.length).toBeGreaterThan(10);
    const holding = [];
    for (const { name } of tables) {
      const rows = await sql.unsafe(`select 1 from ${name} t where t::text like '%${KEY}%' limit 1`);
      if (rows.length > 0) holding.push(name);
    }
    expect(holding).toEqual([]);
  });
});
