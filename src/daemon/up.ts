import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../app/app.ts';
import { MAX_DATABASE_CLOCK_SKEW_MS, measureClockSkew } from '../db/clock-skew.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { databaseIdentity } from '../db/identity.ts';
import { storeReplicaState } from '../db/replica.ts';
import { CLAIM_INTERVAL_MS, type QueueBackend, type RecorderQueue } from '../jobs/backend.ts';
import { queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import type { Queues } from '../jobs/workers.ts';
import { steadyClock } from '../lib/clock.ts';
import { InterruptedError, UsageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { Watchdog } from '../reporting/reports/watchdog.ts';
import { findTerminal, LiveSummary } from './live-summary.ts';
import { logStart } from './log-start.ts';
import { ConfigurationRegistration, joinPeers } from './peers.ts';
import { IntervalRunner } from './repeated-work.ts';
import type { Role } from './roles.ts';
import { enqueueAllPlans, keepSchedules } from './scheduler-role.ts';
import { type ServerSettings, startHttpServer, validateConfiguration } from './server-role.ts';
import type { ServiceManager } from './service-manager.ts';
import { openWorkerResources, startWorker } from './worker-role.ts';

/** Interval of the watchdog, in ms: stalled work is logged well within a minute. */
const WATCHDOG_INTERVAL_MS = 15_000;
/** Interval of the heartbeat of a process and of the check for a newer configuration, in ms. */
const PEER_HEARTBEAT_INTERVAL_MS = 5_000;
const CLOCK_CHECK_INTERVAL_MS = 300_000;
/** Interval of the check of the replica's lag, in ms. */
const REPLICA_CHECK_INTERVAL_MS = 10_000;
const LEAVE_TIMEOUT_MS = 1_000;
/** Interval of the redraw of the live summary, in ms. */
const REDRAW_INTERVAL_MS = 2_000;

/** Callbacks that report the progress of `up`. */
export interface UpCallbacks {
  /** Called once everything runs. */
  began(): void;
  /** Receives the watchdog signal. */
  readonly service: Pick<ServiceManager, 'alive'>;
}

/**
 * Runs `up`: schedules, workers and server, until the signal aborts.
 * The database and the queue may be unavailable at the start or later: `up` retries, `/ready` reports the
 * outage, and no intervention is needed.
 * @throws UsageError as {@link validateConfiguration}, and if the server cannot listen, or the database or Redis rejects
 * the configuration
 */
export async function upCommand(
  app: App,
  roles: ReadonlySet<Role>,
  signal: AbortSignal,
  watchers?: UpCallbacks,
): Promise<void> {
  const serving = validateConfiguration(app, roles);
  await rejectForeignReplica(app);
  try {
    await withQueues(app, signal, (backend, queues) =>
      runUp({ app, roles, serving, backend, queues, watchers }, signal),
    );
  } catch (error) {
    const isWaiting = isDatabaseUnavailable(error) || error instanceof InterruptedError;
    if (!signal.aborted || !isWaiting) throw error; // stopped while waiting for the queue's database
  }
}

/**
 * Rejects a server that is not a replica of the database. An unavailable replica is only logged here: the
 * watchdog reports the outage later, and `up` does not wait for the replica.
 * @throws UsageError if the server is not a copy of the database
 */
async function rejectForeignReplica({ replica, database, log }: App): Promise<void> {
  const found = await replica?.check(database.reader).catch((error: unknown) => {
    if (isDatabaseUnavailable(error)) return null; // the server reports the outage later
    throw error;
  });
  if (found?.strange) throw new UsageError([`REPORTING_DATABASE_URL: ${found.error}`]);
  if (found?.error) log.warn({ cause: found.error }, 'the replica cannot be read');
}

/** Resources of `up`, once its queues are open. */
interface UpContext {
  readonly app: App;
  readonly roles: ReadonlySet<Role>;
  /** Settings of the server; null if this process has no server. */
  readonly serving: ServerSettings | null;
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly watchers: UpCallbacks | undefined;
}

async function runUp(
  { app, roles, serving, backend, queues, watchers }: UpContext,
  signal: AbortSignal,
): Promise<void> {
  const { log, database, replica } = app;
  const outlets = roles.has('worker') ? await openWorkerResources(app, signal) : null;
  const registration = await joinPeers(app, roles, signal);
  const lead = new ConfigurationRegistration(app, registration);
  try {
    await lead.follow();
  } catch (error) {
    await registration.leave();
    throw error;
  }
  const server = serving ? await startHttpServer(app, serving, queues, roles, registration) : null;
  const origin = server?.listeningOrigin ?? null;
  const repeating = new IntervalRunner(log);
  logStart(app, backend.kind, origin);
  const screen = findTerminal(app);
  const summary = screen ? new LiveSummary(app, screen, origin) : null;
  if (summary) repeating.every(REDRAW_INTERVAL_MS, 'drawing the summary', () => summary.show());
  repeating.every(CLAIM_INTERVAL_MS, 'claiming the queue', () => queues.polls.claim());
  repeating.every(CLOCK_CHECK_INTERVAL_MS, 'comparing clocks', () => warnAboutClockSkew(app));
  if (replica)
    repeating.every(REPLICA_CHECK_INTERVAL_MS, 'checking the replica', async () =>
      storeReplicaState(database.sql, app.config.name, replica.address, await replica.check(database.reader)),
    );
  const watchdog = new Watchdog(database.reader, log, steadyClock);
  repeating.every(WATCHDOG_INTERVAL_MS, 'checking for stalled work', () => watchdog.checkFindings());
  const worker = outlets
    ? await startWorker({
        app,
        backend,
        queues,
        registration,
        outlets,
        repeating,
        signal,
        logsProgress: summary === null,
      })
    : null;
  const plan = async () => {
    if (roles.has('scheduler') && registration.position.newest) await enqueueAllPlans(app, queues.polls);
  };
  repeating.once(0, 'planning', plan);
  repeating.every(PEER_HEARTBEAT_INTERVAL_MS, 'monitoring the other processes', async () => {
    try {
      const { relieved } = await registration.beat();
      worker?.follow(relieved);
      if (await lead.follow()) await plan();
    } finally {
      watchers?.service.alive(); // also while the database is unavailable: a restart would not fix that
    }
  });
  if (roles.has('scheduler'))
    keepSchedules({ app, queues, kind: backend.kind, registration, repeating, signal });
  watchers?.began();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  repeating.stop();
  summary?.end();
  log.info('stopping');
  await server?.close();
  await worker?.stop();
  const deregistration = registration.leave().catch(() => {}); // on failure, the process counts as dead after a timeout
  await withTimeout(LEAVE_TIMEOUT_MS, deregistration);
}

async function warnAboutClockSkew({ database, clock, log }: App): Promise<void> {
  const skew = await measureClockSkew(database.sql, clock);
  if (Math.abs(skew) > MAX_DATABASE_CLOCK_SKEW_MS)
    log.warn({ skew }, 'the clock differs from the database: run NTP on both machines');
}

/** Timeout of the check of Redis, in ms. */
const REDIS_CHECK_TIMEOUT_MS = 5_000;
/** Timeout for closing the queues, in ms. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Opens the queues of a recorder, runs the work, and closes them.
 * @throws UsageError as {@link rejectUnfitRedis}, and errors of the work
 */
async function withQueues(
  { log, config, environment, database, databaseUrl, traced }: App,
  signal: AbortSignal,
  work: (backend: QueueBackend, queues: Queues) => Promise<void>,
): Promise<void> {
  const backend = await openBackend(
    { redisUrl: environment.redisUrl, databaseUrl, identity: () => databaseIdentity(database.sql) },
    log,
    signal,
    traced !== null,
  );
  const opened: RecorderQueue[] = [];
  const open = async (name: string) => {
    const queue = await backend.queue(name);
    opened.push(queue);
    return queue;
  };
  try {
    const names = queueNames(config.name);
    const queues = { polls: await open(names.polls), heals: await open(names.heals) };
    await rejectUnfitRedis(queues.polls);
    await work(backend, queues);
  } finally {
    // Also after a rejection: an open connection would keep the process alive.
    const closed = Promise.allSettled(opened.map((queue) => queue.close())).then(() => backend.close());
    await withTimeout(CLOSE_TIMEOUT_MS, closed);
  }
}

/**
 * Rejects a Redis that would lose schedules and jobs, store them elsewhere, or give them to another recorder.
 * This function does not wait for an unavailable Redis. `doctor` or the next start checks Redis instead.
 * @throws UsageError if the Redis is unsuitable
 */
async function rejectUnfitRedis(queue: RecorderQueue): Promise<void> {
  const objection = await Promise.race([
    queue.objection(),
    delay(REDIS_CHECK_TIMEOUT_MS, null, { ref: false }),
  ]);
  if (objection === null) return;
  const { found, fix } = objection;
  throw new UsageError([`REDIS_URL: this Redis is unsuitable for the queue: ${found}: ${fix}`]);
}
