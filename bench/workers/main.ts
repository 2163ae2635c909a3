import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import postgres from 'postgres';
import { z } from 'zod';
import { buildRecorder } from '../../chaos/build.ts';
import { Closers } from '../../chaos/closers.ts';
import { percentile } from '../../chaos/evidence.ts';
import { childrenOf } from '../../chaos/processes.ts';
import { RecorderProcess } from '../../chaos/recorder-process.ts';
import { RedisPlaces } from '../../chaos/servers/redis-places.ts';
import { until } from '../../chaos/until.ts';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { HEALS, POLLS, recordJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { processorTime } from '../pages/processor.ts';

/**
 * Measures the runs per second of one to eight worker processes (`up --roles worker`) against an upstream with a
 * latency of 50 ms, by queue backend; and the delay of a run after its schedule, by the number of targets. Processor
 * time shows when the machine is the limit, and the cost of a run also on a busy machine.
 */
const HELP = `npx tsx bench/workers/main.ts [--backends redis,cluster,postgres] [--workers 1,2,4,8] [--targets 64] [--queue heals|polls] [--seconds 15]
npx tsx bench/workers/main.ts --delays 1000,10000 [--every 60s] [--rounds 3] [--workers 1,4] [--backends …]`;
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    backends: { type: 'string', default: 'redis,cluster,postgres' },
    workers: { type: 'string', default: '1,2,4,8' },
    targets: { type: 'string', default: '64' },
    queue: { type: 'string', default: HEALS },
    seconds: { type: 'string', default: '15' },
    takes: { type: 'string', default: '50' },
    delays: { type: 'string' },
    every: { type: 'string', default: '60s' },
    rounds: { type: 'string', default: '3' },
  },
});
const numbers = (text: string) => text.split(',').map(Number);
const log = (text: string) => console.log(text);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

/** The URL of a separate queue; undefined: the queue is in PostgreSQL. */
async function openRedis(backend: string, closers: Closers): Promise<{ url?: string; pids: number[] }> {
  if (backend === 'postgres') return { pids: [] };
  const places = new RedisPlaces();
  closers.add(() => places.stop());
  const nodes = backend === 'cluster' ? await places.startCluster() : [await places.start()];
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: backend === 'cluster' ? `redis-cluster://${hosts}` : `redis://${hosts}`,
    pids: nodes.flatMap(({ process: { pid } }) => pid ?? []),
  };
}

const address = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`;

/** A recorder of the balances of this many addresses. */
const recording = (targets: number, port: number, every: string) => ({
  network: 'sandbox',
  observer: 'bench',
  upstreams: { chainData: { url: `http://127.0.0.1:${port}` } },
  watch: {
    evmAddresses: Array.from({ length: targets }, (_, n) => ({ chain: '43114', address: address(n) })),
  },
  datasets: Object.fromEntries(
    catalogNames.datasets.map((name) => [name, name === 'native_balances' ? { every } : { enabled: false }]),
  ),
});

/** A recorder's processes, database, queue and upstream. */
async function open(cli: string, backend: string, targets: number, every: string, closers: Closers) {
  const dir = await mkdtemp(join(tmpdir(), 'bench-workers-'));
  closers.add(() => rm(dir, { recursive: true, force: true }));
  const database = await startDatabase({ max_connections: 300 });
  closers.add(() => database.close());
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  closers.add(() => sql.end({ timeout: 5 }));
  const redis = await openRedis(backend, closers);
  const service = await Child.start(
    'workers/slow-process.ts',
    [values.takes],
    z.object({ port: z.number() }),
    stop.signal,
  );
  closers.add(() => service.child.stop());
  const config = recording(targets, service.first.port, every);
  await writeFile(join(dir, 'recorder.yaml'), JSON.stringify(config));
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: database.url,
    RECORDER_PORT: '0',
    ...(redis.url === undefined ? {} : { REDIS_URL: redis.url }),
  };
  const up = async (roles: string): Promise<RecorderProcess> => {
    const recorder = new RecorderProcess([], [cli, 'up', '--roles', roles], dir, env);
    closers.add(() => recorder.end());
    await recorder.waitForLog('recording started');
    return recorder;
  };
  const ups = (count: number) => Promise.all(Array.from({ length: count }, () => up('worker')));
  const [feed] = activeFeeds(validateConfig(config, catalogNames, 'the benchmark'));
  const queues = await openBackend(
    { redisUrl: redis.url, databaseUrl: database.url },
    pino({ level: 'silent' }),
    stop.signal,
  );
  closers.add(() => Promise.race([queues.close(), delay(2_000)]));
  if (!feed) throw new Error('there is nothing to record');
  return { sql, up, ups, feed, queues, redis };
}

/** Processor time of the processes whose parent is the server of a database, and of others, in ms. */
async function processors(sql: postgres.Sql, pids: Record<string, readonly number[]>) {
  const [server] = await sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid`;
  const all = { ...pids, PostgreSQL: await childrenOf(server?.pid ?? 0) };
  const times = Object.entries(all).map(async ([name, some]) => {
    const times = await Promise.all(some.map(processorTime));
    return [name, times.reduce((sum, one) => sum + one, 0) / 1e6] as const;
  });
  return new Map(await Promise.all(times));
}

/** Completed runs per second, by the number of workers. */
async function rateOf(cli: string, backend: string, workers: number): Promise<number> {
  const closers = new Closers();
  try {
    const targets = Number(values.targets);
    const { sql, ups, feed, queues, redis } = await open(cli, backend, targets, '1h', closers);
    const queue = await queues.queue(values.queue);
    closers.add(() => Promise.race([queue.close(), delay(2_000)]));
    const running = await ups(workers);
    let put = 0;
    // Round after round of all targets; a target that is still being recorded then would be delayed by a second.
    const putAll = async () => {
      const jobs = feed.targets.map((target) => {
        const { name, data, opts } = recordJob(feed, { target, window: null, reason: 'manual' });
        return { name, data, opts: { ...opts, jobId: `${opts.jobId} ${put++}` } };
      });
      await queue.addBulk(jobs);
    };
    const done = async () => {
      const [row] = await sql<
        { runs: number }[]
      >`select count(*)::int as runs from recorder.runs where status = 'done'`;
      return row?.runs ?? 0;
    };
    const keepQueueFilled = async () => {
      const waiting = put - (await done());
      if (waiting < targets * 12) await putAll();
    };
    await until('the workers to be at work', async () => {
      await keepQueueFilled();
      return (await done()) > targets * 3;
    });
    const pids = {
      workers: running.map(({ pid }) => pid),
      ...(redis.pids.length > 0 ? { Redis: redis.pids } : {}),
    };
    const [startedAt, before, timesBefore] = [performance.now(), await done(), await processors(sql, pids)];
    const end = startedAt + Number(values.seconds) * 1000;
    while (performance.now() < end) {
      await keepQueueFilled();
      await delay(50, undefined, { signal: stop.signal });
    }
    const [after, now] = [await done(), await processors(sql, pids)];
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = (after - before) / seconds;
    const used = [...now].map(([name, time]) => [name, time - (timesBefore.get(name) ?? 0)] as const);
    const cores = used.reduce((sum, [, time]) => sum + time, 0) / 1000 / seconds;
    const each = used.map(([name, time]) => `${name} ${(time / (after - before)).toFixed(1)}`).join(', ');
    const [failures] = await sql<{ failed: number }[]>`
      select count(*)::int as failed from recorder.runs where status not in ('done', 'running')`;
    log(
      `${backend}, ${workers} workers: ${rate.toFixed(1)} runs/s on ${cores.toFixed(2)} cores; ms of processor a run: ${each}; load ${loadavg()[0]?.toFixed(1)}` +
        (failures?.failed ? `; ${failures.failed} runs failed` : ''),
    );
    return rate;
  } finally {
    await closers.close();
  }
}

/** Delay of the runs of some rounds after their schedule's tick. */
async function delaysOf(cli: string, backend: string, workers: number, targets: number): Promise<void> {
  const closers = new Closers();
  try {
    const { sql, up, ups, queues } = await open(cli, backend, targets, values.every, closers);
    await ups(workers);
    await up('scheduler');
    const queue = await queues.queue(POLLS);
    closers.add(() => Promise.race([queue.close(), delay(2_000)]));
    const { every, next } = await until('the schedule to be set', async () => {
      const [schedule] = await queue.getJobSchedulers();
      return schedule?.next === undefined ? null : { every: Number(schedule.every), next: schedule.next };
    });
    const to = Date.now() + Number(values.rounds) * every;
    while (Date.now() < to) await delay(500, undefined, { signal: stop.signal });
    const rows = await sql<{ at: number }[]>`
      select extract(epoch from started_at)::float8 * 1000 as at from recorder.runs where reason = 'poll' and started_at < ${new Date(to)}`;
    // Ticks follow the first one by multiples of the interval. That one comes a little early, which is no delay of
    // nearly an interval.
    const early = every / 10;
    const delays = rows.map(({ at }) => ((((at - next + early) % every) + every) % every) - early);
    const seconds = (share: number) => (percentile(delays, share) / 1000).toFixed(2);
    const [late] = await sql<{ all: number; late: number }[]>`
      select count(*)::int as all, count(*) filter (where now() - last_success_at > 2 * ${every} * interval '1 ms')::int as late
      from recorder.target_datasets where active and source = 'native-balance'`;
    log(
      `${backend}, ${workers} workers, ${targets} targets every ${values.every}: ${rows.length} runs started after (p50, p99, most) ` +
        `${seconds(0.5)}, ${seconds(0.99)}, ${seconds(1)} s; late by two intervals ${late?.late} of ${late?.all}; load ${loadavg()[0]?.toFixed(1)}`,
    );
  } finally {
    await closers.close();
  }
}

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-built-'));
  try {
    const cli = await buildRecorder(dir);
    for (const backend of values.backends.split(',')) {
      if (values.delays !== undefined) {
        for (const targets of numbers(values.delays))
          for (const workers of numbers(values.workers)) await delaysOf(cli, backend, workers, targets);
        continue;
      }
      let first: number | undefined;
      for (const workers of numbers(values.workers)) {
        const rate = await rateOf(cli, backend, workers);
        first ??= rate / workers;
        log(`  ${(rate / first / workers).toFixed(2)} of linear`);
      }
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

if (values.help) log(HELP);
else await main();
process.exit();
