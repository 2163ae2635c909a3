import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { request } from 'undici';
import { startSandbox } from '../../sandbox/server.ts';
import { STATE_DIRECTORY } from '../../src/app/state-directory.ts';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';

const quiet = { info() {}, warn() {} };
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
/** Interval of the probes and of the polls of heights, s. */
const INTERVAL_S = 5;

/** A recorder with a usual watch list. */
export interface WatchList {
  readonly address: string;
  /** Waits for a duration. @returns what was recorded in it */
  watch(seconds: number): Promise<WatchResult>;
  close(): Promise<void>;
}

/** The work of a recorder in a duration. */
export interface WatchResult {
  /** Complete runs, and others. */
  readonly done: number;
  readonly failed: number;
  /** Delay of due polls, s: median, 99th percentile, and maximum. */
  readonly late: readonly [median: number, p99: number, max: number];
  /** Probes of nodes, and their expected number. */
  readonly probes: number;
  readonly expectedProbes: number;
  /** Intervals with an unknown state of a node, and times without the recorder. */
  readonly unknown: number;
}

/**
 * Starts `up` of the build, with its embedded PostgreSQL and the nodes of a sandbox, and waits until all of them are
 * recorded.
 */
export async function startWatchList(): Promise<WatchList> {
  const sandbox = await startSandbox({ incidents: false });
  const directory = await mkdtemp(join(tmpdir(), 'recorder-watch-list-'));
  const nodes = sandbox.watch.nodes.map(({ name, path }) => ({ name, url: sandbox.url + path }));
  const config = {
    network: 'sandbox',
    upstreams: { metrics: { url: sandbox.url }, nodes },
    watch: { chains: sandbox.watch.chains.slice(0, 1) },
    datasets: { chain_heights: { every: `${INTERVAL_S}s` }, node_health: { every: `${INTERVAL_S}s` } },
  };
  await writeFile(join(directory, 'recorder.yaml'), JSON.stringify(config));
  await chmod(directory, 0o755); // the database server's account needs access
  const port = await findFreePort();
  const up = spawn(process.execPath, [CLI, 'up'], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      RECORDER_PORT: String(port),
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const closers = [
    async () => {
      await sandbox.close();
      // Root's data may be elsewhere, behind a link.
      const home = await realpath(join(directory, STATE_DIRECTORY, 'postgres')).catch(() => directory);
      for (const path of [home, directory]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
    () => stop(up),
  ];
  const close = async () => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  const address = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(address, up);
    const database = await openEmbedded({ dir: join(directory, STATE_DIRECTORY), log: quiet });
    closers.push(() => database.close());
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    closers.push(() => sql.end({ timeout: 5 }));
    await waitUntilSettled(sql, nodes.length);
    return { address, watch: (seconds) => measureWatch(sql, seconds), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function stop(up: ChildProcess): Promise<void> {
  if (up.exitCode !== null || up.signalCode !== null) return;
  const ended = once(up, 'exit');
  up.kill('SIGTERM');
  await ended;
}

async function waitUntilReady(address: string, up: ChildProcess): Promise<void> {
  for (;;) {
    if (up.exitCode !== null) throw new Error(`up ended with ${up.exitCode}`);
    const status = await request(`${address}/ready`).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => 0,
    );
    if (status === 200) return;
    await delay(500);
  }
}

/** Waits until all nodes are recorded, and for a while all runs were polls. */
async function waitUntilSettled(sql: postgres.Sql, nodes: number): Promise<void> {
  for (;;) {
    const [row] = await sql<{ nodes: number; calm: boolean }[]>`
      select count(distinct target) filter (where dataset = 'chain_heights')::int as nodes,
        not coalesce(bool_or(reason <> 'poll' and coalesce(finished_at, now()) > now() - interval '15 seconds'), false) as calm
      from reporting.runs`;
    if (row?.calm && row.nodes >= nodes) return;
    await delay(1_000);
  }
}

async function measureWatch(sql: postgres.Sql, seconds: number): Promise<WatchResult> {
  const [{ now: from } = { now: '' }] = await sql<{ now: string }[]>`select now()::text as now`;
  const probesBefore = await countProbes(sql);
  await delay(seconds * 1_000);
  const [{ now: until } = { now: '' }] = await sql<{ now: string }[]>`select now()::text as now`;
  const probeCount = (await countProbes(sql)).probes - probesBefore.probes;
  const [runs] = await sql<{ done: number; failed: number }[]>`
    select count(*) filter (where status = 'done')::int as done,
      count(*) filter (where status not in ('done', 'running', 'unsupported'))::int as failed
    from reporting.runs where started_at >= ${from}::timestamptz and started_at < ${until}::timestamptz`;
  const late = await sql<{ late: number }[]>`
    select extract(epoch from started_at - lag(started_at) over (partition by target order by started_at))::float8 - ${INTERVAL_S} as late
    from reporting.runs where dataset = 'chain_heights' and reason = 'poll'
      and started_at >= ${from}::timestamptz and started_at < ${until}::timestamptz`;
  const sorted = late.flatMap((row) => (row.late === null ? [] : [row.late])).sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  const [unknown] = await sql<{ count: number }[]>`
    select (select count(*)::int from recorder.node_health where state = 'unknown' and check_name = '*'
        and started_at < ${until}::timestamptz and (ended_at is null or ended_at > ${from}::timestamptz))
      + (select count(*)::int from recorder.health_absences
        where started_at < ${until}::timestamptz and (ended_at is null or ended_at > ${from}::timestamptz)) as count`;
  return {
    done: runs?.done ?? 0,
    failed: runs?.failed ?? 0,
    late: [at(0.5), at(0.99), at(1)],
    probes: probeCount,
    expectedProbes: Math.round((seconds / INTERVAL_S) * probesBefore.watched),
    unknown: unknown?.count ?? 0,
  };
}

async function countProbes(sql: postgres.Sql) {
  const [row] = await sql<{ probes: number; watched: number }[]>`
    select sum(probes)::int as probes, count(*)::int as watched from reporting_internal.node_probes`;
  return row ?? { probes: 0, watched: 0 };
}
