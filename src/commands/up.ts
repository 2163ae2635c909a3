import { createServer } from 'node:net';
import type { App } from '../app.ts';
import { clockSkew, TOLERATED_SKEW } from '../db/clock-skew.ts';
import { UsageError } from '../errors.ts';
import { openBackend } from '../jobs/backend.ts';
import { HEALS, POLLS, planJob } from '../jobs/jobs.ts';
import { reconcileSchedules } from '../jobs/schedules.ts';
import { startWorkers } from '../jobs/workers.ts';
import type { RunResult } from '../recording/context.ts';
import { buildServer } from '../server/server.ts';
import { tellProgress, tellStart } from './telling.ts';

export type Role = 'scheduler' | 'worker' | 'server';
const ROLES: readonly Role[] = ['scheduler', 'worker', 'server'];

const RECONCILE_EVERY = 30_000;
const CLOCK_CHECK_EVERY = 300_000;
/** The longest that runs under way may take to stop; the whole stop is promised within 20 s. */
const WORKERS_STOP_WITHIN = 12_000;
const FIRST_TELLING = 8_000;
const TELL_EVERY = 600_000;

/** The roles named in `--roles`. @throws UsageError for an unknown one */
export function rolesOf(text: string | undefined): ReadonlySet<Role> {
  const names = text?.split(',').map((name) => name.trim()) ?? ROLES;
  const known = names.flatMap((name) => ROLES.filter((role) => role === name));
  if (known.length !== names.length)
    throw new UsageError([`--roles ${text}: must be a list of ${ROLES.join(', ')}`]);
  return new Set(known);
}

/** `up`: schedules, workers and server until the signal comes. */
export async function upCommand(app: App, roles: ReadonlySet<Role>, signal: AbortSignal): Promise<void> {
  const { log, database, feeds, environment, databaseUrl } = app;
  const backend = openBackend({ redisUrl: environment.redisUrl, databaseUrl }, log);
  const queues = { polls: backend.queue(POLLS), heals: backend.queue(HEALS) };
  const timers: NodeJS.Timeout[] = [];
  const every = (milliseconds: number, work: () => Promise<unknown>, what: string) => {
    const guarded = () => work().catch((error: unknown) => log.warn({ err: error }, `${what} failed`));
    timers.push(setInterval(guarded, milliseconds));
    return guarded();
  };
  await every(CLOCK_CHECK_EVERY, () => warnOfSkew(app), 'comparing clocks');
  await refuseEviction(queues.polls);
  tellStart(app, backend.kind);
  const finished: RunResult[] = [];
  let stopWorkers = async (_deadline: number) => {};
  if (roles.has('worker')) {
    stopWorkers = startWorkers(backend, queues, {
      sql: database.sql,
      clock: app.clock,
      feeds,
      recording: app.recording,
      log,
      finished: (result) => finished.push(result),
    });
    const tell = () =>
      tellProgress(app, finished.splice(0)).catch((error: unknown) =>
        log.warn({ err: error }, 'counting failed'),
      );
    timers.push(setTimeout(tell, FIRST_TELLING), setInterval(tell, TELL_EVERY));
  }
  if (roles.has('scheduler')) {
    await every(
      RECONCILE_EVERY,
      () => reconcileSchedules(database.sql, queues.polls, feeds, log),
      'holding the schedules',
    );
    // After a stop of whatever length nobody waits for the next tick: what is due is planned at once.
    for (const feed of feeds) {
      const { name, data, opts } = planJob(feed.source.name, 'start');
      await queues.polls.add(name, data, opts);
    }
  }
  const server = roles.has('server')
    ? buildServer({ sql: database.sql, queueReachable: () => queues.polls.getJobCounts() })
    : null;
  if (server) {
    const port = await usablePort(environment.host, environment.port);
    const address = await server.listen({ host: environment.host, port });
    log.info({ address }, 'the server listened');
  }
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  log.info('stopping');
  for (const timer of timers) clearTimeout(timer);
  await server?.close();
  await stopWorkers(WORKERS_STOP_WITHIN);
  await Promise.race([
    Promise.allSettled([queues.polls.close(), queues.heals.close()]),
    new Promise((resolve) => setTimeout(resolve, 2_000).unref()),
  ]);
}

async function warnOfSkew({ database, clock, log }: App): Promise<void> {
  const skew = await clockSkew(database.sql, clock);
  if (Math.abs(skew) > TOLERATED_SKEW)
    log.warn({ skew }, 'the clock differs from the database: run NTP on both machines');
}

async function refuseEviction(queue: { evictionPolicy(): Promise<string | null> }): Promise<void> {
  const policy = await queue.evictionPolicy();
  if (policy !== null && policy !== 'noeviction')
    throw new UsageError([
      `REDIS_URL: this Redis evicts keys (maxmemory-policy ${policy}) and would lose schedules: set maxmemory-policy noeviction`,
    ]);
}

/** The wanted port, or a clear refusal where something else listens on it. */
function usablePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () =>
      reject(new UsageError([`RECORDER_PORT: ${host}:${port} is in use; set another port`])),
    );
    probe.listen(port, host, () => probe.close(() => resolve(port)));
  });
}
