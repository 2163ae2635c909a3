import { tryOwnRules } from '../alerts/configured-rules.ts';
import type { App } from '../app.ts';
import { steadyClock } from '../clock.ts';
import { isAway } from '../db/away.ts';
import { clockSkew, TOLERATED_SKEW } from '../db/clock-skew.ts';
import { databaseIdentity } from '../db/identity.ts';
import { ReadGate } from '../db/read-gate.ts';
import { noteReplica } from '../db/replica.ts';
import { UsageError } from '../errors.ts';
import { CLAIM_EVERY, type QueueBackend, type RecorderQueue } from '../jobs/backend.ts';
import { ALERTS, alertsJob, EXPORTS, exportsJob, planJob, queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import { queueKeys, viewOf } from '../jobs/queue-look.ts';
import { reconcileSchedules } from '../jobs/schedules.ts';
import { noteQueues, QueueWatch } from '../jobs/seen-queues.ts';
import { noteSchedules } from '../jobs/seen-schedules.ts';
import { type Queues, startWorkers } from '../jobs/workers.ts';
import type { RunResult } from '../recording/context.ts';
import { packRuns } from '../recording/pack-runs.ts';
import { countUpRuns } from '../recording/run-days.ts';
import { endUnwatched } from '../recording/unwatched.ts';
import { Watchdog } from '../reports/watchdog.ts';
import { sealDays } from '../seals/seal.ts';
import { Access } from '../server/access.ts';
import { listenFault } from '../server/listening.ts';
import { buildServer } from '../server/server.ts';
import { type StatusSite, statusSite } from '../server/status-site.ts';
import { sendChanges } from '../warehouse/send-changes.ts';
import { alertWork, openAlerts } from './alerting.ts';
import { closeInTurn } from './closing.ts';
import { compareInTurn } from './comparing.ts';
import { exportWork } from './exporting.ts';
import { LiveSummary, screenOf } from './live-summary.ts';
import { namedProblems } from './named-problems.ts';
import { joinPeers, Lead } from './peers.ts';
import { ProberSwitch } from './probing.ts';
import { Repeating } from './repeating.ts';
import { retainInTurn } from './retaining.ts';
import type { Role } from './roles.ts';
import { sendingOf, trimChanges } from './sending.ts';
import type { ServiceManager } from './service-manager.ts';
import { logBudgets, logProgress, logStart } from './up-log.ts';

/** How often schedules are checked, ms: lost ones are back within 30 s, also when one round fails. */
const RECONCILE_EVERY = 14_000;
/** How often the watchdog looks, ms: what stands still is logged well within a minute. */
const WATCH_EVERY = 15_000;
const COUNT_EVERY = 600_000;
/** How often it is asked whether a day is to be sealed. */
const SEAL_EVERY = 600_000;
const FIRST_SEALING = 30_000;
/** How often a process shows that it lives, and checks whether a newer configuration is in place; ms. */
const BEAT_EVERY = 5_000;
const END_UNWATCHED_EVERY = 10_000;
/** Metrics are polled once an hour. */
const COMPARE_EVERY = 3_600_000;
/** What was missed while the recorder was off is to be asked for first. */
const COMPARE_FIRST = 120_000;
/** Days of readings end once a day; what comes late is packed within an hour. */
const CLOSE_EVERY = 3_600_000;
const CLOSE_FIRST = 60_000;
/** The begin of what is kept moves once a day; what could not be removed is tried again within an hour. */
const RETAIN_EVERY = 3_600_000;
/** A clock that is wrong when a machine starts is right by then. */
const RETAIN_FIRST = 600_000;
/** How often it is looked which exports are due. */
const EXPORTS_EVERY = 60_000;
/** How often it is asked whether sinks are to be sent changes, ms. */
const SEND_EVERY = 1_000;
const CLOCK_CHECK_EVERY = 300_000;
/** How often it is looked how far the replica is behind, ms. */
const REPLICA_EVERY = 10_000;
const QUEUE_PATIENCE = 5_000;
/** The longest that runs under way may take to stop; the whole stop is promised within 20 s. */
const WORKERS_STOP_WITHIN = 8_000;
const LAST_WORD_WITHIN = 1_000;
const FIRST_TELLING = 8_000;
const TELL_EVERY = 600_000;
/** How often the live summary is shown anew, ms. */
const SHOW_EVERY = 2_000;

/** Who is told how `up` fares. */
export interface UpWatchers {
  /** Called once everything runs. */
  began(): void;
  /** Is shown that the process works. */
  readonly service: Pick<ServiceManager, 'alive'>;
}

/**
 * What can be known of a configuration before anything begins, or stops for it.
 * @returns what the server is started with; null: none is
 * @throws UsageError when a variable is missing that channels or sinks name, the server would let everybody in the network read, or its
 * logo is none
 */
export function prepared(app: App, roles: ReadonlySet<Role>): Serving | null {
  const problems = roles.has('worker') ? namedProblems(app.config) : [];
  if (problems.length > 0) throw new UsageError(problems);
  return roles.has('server') ? { access: accessOf(app), site: statusSite(app.config) } : null;
}

/**
 * `up`: schedules, workers and server until the signal aborts. The database and the queue may be away, at the start or
 * later: it goes on trying, `/ready` reports it, and no one has to intervene.
 * @throws UsageError as {@link prepared}, and when the server cannot listen, or the database or Redis refuses what is wanted
 */
export async function upCommand(
  app: App,
  roles: ReadonlySet<Role>,
  signal: AbortSignal,
  watchers?: UpWatchers,
): Promise<void> {
  const serving = prepared(app, roles);
  await refuseStrangeReplica(app);
  try {
    await withQueues(app, signal, (backend, queues) =>
      work(app, roles, serving, signal, backend, queues, watchers),
    );
  } catch (error) {
    if (!signal.aborted || !isAway(error)) throw error; // stopped while it waited for the queue's database
  }
}

/**
 * A replica that is away is told by the watchdog, and is waited for by nobody.
 * @throws UsageError when what is to be read in place of the database is no copy of it
 */
async function refuseStrangeReplica({ replica, database, log }: App): Promise<void> {
  const found = await replica?.look(database.reader).catch((error: unknown) => {
    if (isAway(error)) return null; // the database was there a moment ago: the server says so when it is asked
    throw error;
  });
  if (found?.strange) throw new UsageError([`REPORTING_DATABASE_URL: ${found.trouble}`]);
  if (found?.trouble) log.warn({ cause: found.trouble }, 'the replica cannot be read');
}

/** What the server is started with, checked before anything else is. */
interface Serving {
  readonly access: Access;
  readonly site: StatusSite;
}

/** @throws UsageError when everybody in the network could read */
function accessOf({ config, environment: { host, token } }: App): Access {
  return new Access({ host, token, proxies: config.server.proxies, public: config.server.public });
}

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
    await work(backend, { polls: await open(names.polls), heals: await open(names.heals) });
  } finally {
    // Also after a refusal: an open connection would keep the process alive.
    await Promise.race([
      Promise.allSettled(opened.map((queue) => queue.close())).then(() => backend.close()),
      new Promise((resolve) => setTimeout(resolve, 2_000).unref()),
    ]);
  }
}

async function work(
  app: App,
  roles: ReadonlySet<Role>,
  serving: Serving | null,
  signal: AbortSignal,
  backend: QueueBackend,
  queues: Queues,
  watchers: UpWatchers | undefined,
): Promise<void> {
  const { log, database, feeds } = app;
  await refuseUnfit(queues.polls);
  const alerting = roles.has('worker') ? openAlerts(app) : null;
  if (alerting)
    for (const untried of await tryOwnRules(app.config.alerts, app.databaseUrl, signal))
      log.warn(untried, 'a query of alerts was not tried: its rounds will tell what is wrong');
  const sending = roles.has('worker') && app.config.changes.sinks.length > 0 ? sendingOf(app) : null;
  const membership = await joinPeers(app, roles, signal);
  const lead = new Lead(app, membership);
  try {
    await lead.follow();
  } catch (error) {
    await membership.leave();
    throw error;
  }
  const server = serving ? await listen(app, serving, queues, roles) : null;
  const repeating = new Repeating(log);
  logStart(app, backend.kind, server?.listeningOrigin ?? null);
  const screen = screenOf(app);
  const summary = screen ? new LiveSummary(app, screen, server?.listeningOrigin ?? null) : null;
  if (summary) repeating.every(SHOW_EVERY, 'showing how it stands', () => summary.show());
  repeating.every(CLAIM_EVERY, 'claiming the queue', () => queues.polls.claim());
  if (roles.has('scheduler')) repeating.once(0, 'comparing with the budgets', () => logBudgets(app));
  repeating.every(CLOCK_CHECK_EVERY, 'comparing clocks', () => warnOfSkew(app));
  const { replica } = app;
  if (replica)
    repeating.every(REPLICA_EVERY, 'looking at the replica', async () =>
      noteReplica(database.sql, app.config.name, replica.place, await replica.look(database.reader)),
    );
  const watchdog = new Watchdog(database.reader, log, steadyClock);
  repeating.every(WATCH_EVERY, 'looking for what stands still', () => watchdog.look());
  const finished: RunResult[] = [];
  let stopWorkers = async (_deadline: number) => {};
  const watch = roles.has('worker') ? new ProberSwitch(app, membership) : null;
  if (roles.has('worker')) {
    stopWorkers = await startWorkers(backend, queues, {
      sql: database.sql,
      clock: app.clock,
      feeds,
      recording: app.recording,
      log,
      peers: membership,
      ...(alerting && { alerts: alertWork(alerting) }),
      ...(app.config.exports.length > 0 && { exports: exportWork(app) }),
      during: (run) => app.counts.during(run),
      finished: (result) => {
        app.counts.run(result);
        finished.push(result);
      },
    });
    if (sending)
      // Each for itself: one that has much to catch up with, or is slow, holds up no other.
      for (const sink of app.config.changes.sinks)
        repeating.every(SEND_EVERY, `sending changes to ${sink.name}`, async () => {
          if (membership.standing.newest) await sendChanges(sending, sink, signal);
        });
    const tell = async () => {
      const results = finished.splice(0);
      if (!summary) await logProgress(app, results);
    };
    repeating.once(FIRST_TELLING, 'counting', tell);
    repeating.every(TELL_EVERY, 'counting', tell, TELL_EVERY);
  }
  // After a stop of any length, what is due is planned at once, without waiting for the next tick.
  const planAll = async () => {
    if (!roles.has('scheduler') || !membership.standing.newest) return;
    for (const feed of feeds) {
      const { name, data, opts } = planJob(feed.source.name, 'start');
      await queues.polls.add(name, data, opts);
    }
    if (app.config.exports.length > 0) {
      const { name, data } = exportsJob();
      await queues.polls.add(name, data, { removeOnComplete: true, removeOnFail: true });
    }
  };
  repeating.once(0, 'planning', planAll);
  repeating.every(BEAT_EVERY, 'looking after the other processes', async () => {
    try {
      const { relieved } = await membership.beat();
      watch?.follow(relieved);
      if (await lead.follow()) await planAll();
    } finally {
      watchers?.service.alive(); // also while the database is away: a restart would mend nothing
    }
  });
  if (roles.has('scheduler')) {
    const others = [
      { id: ALERTS, every: app.config.alerts.every, job: alertsJob() },
      ...(app.config.exports.length > 0 ? [{ id: EXPORTS, every: EXPORTS_EVERY, job: exportsJob() }] : []),
    ];
    repeating.every(RECONCILE_EVERY, 'holding the schedules', async () => {
      if (!membership.standing.newest) return;
      const { recorder } = membership;
      const { seen } = await reconcileSchedules(app.databaseUrl, queues, feeds, log, recorder, others);
      if (seen) await noteSchedules(database.sql, recorder, seen, Date.now());
    });
    const watched = queueKeys.map((name) => new QueueWatch(name, queues[name], backend.kind));
    repeating.every(RECONCILE_EVERY, 'looking after the queues', async () => {
      if (!membership.standing.newest) return;
      const found = await Promise.all(watched.map((one) => one.look()));
      await noteQueues(database.sql, membership.recorder, found);
    });
    repeating.every(COUNT_EVERY, 'counting up runs', () =>
      countUpRuns(database.sql, app.clock(), app.config.runs.keep, signal),
    );
    repeating.every(COUNT_EVERY, 'packing runs', () =>
      packRuns(database.sql, app.clock(), app.config.runs.keep, signal),
    );
    repeating.every(COUNT_EVERY, 'trimming the change feed', async () => {
      if (membership.standing.newest) await trimChanges(app, signal);
    });
    repeating.every(
      CLOSE_EVERY,
      'closing the days of readings and noting contradictions',
      () => closeInTurn(app, signal),
      CLOSE_FIRST,
    );
    const retainNow = async () => membership.standing.newest && retainInTurn(app, signal);
    repeating.every(RETAIN_EVERY, 'removing what is not kept any more', retainNow, RETAIN_FIRST);
    const sealNow = async () => membership.standing.newest && sealAndTell(app, signal);
    repeating.every(SEAL_EVERY, 'sealing', sealNow, FIRST_SEALING);
    repeating.every(
      COMPARE_EVERY,
      'comparing the sources',
      async () => {
        if (membership.standing.newest) await compareInTurn(app, COMPARE_EVERY, signal);
      },
      COMPARE_FIRST,
    );
    repeating.every(END_UNWATCHED_EVERY, 'ending what nobody asks for any more', async () => {
      if (membership.standing.newest) await endUnwatched(app.recording, membership.registrant, log);
    });
  }
  watchers?.began();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  repeating.stop();
  summary?.end();
  log.info('stopping');
  await server?.close();
  await Promise.all([stopWorkers(WORKERS_STOP_WITHIN), within(WORKERS_STOP_WITHIN, watch?.stop())]);
  await alerting?.close();
  await within(
    LAST_WORD_WITHIN,
    membership.leave().catch(() => {}),
  ); // when this fails, the process counts as dead after a while
}

function within(milliseconds: number, work: Promise<void> | undefined): Promise<void> {
  return Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref())]);
}

/** @throws UsageError when the port is taken, or the host is no address of this machine */
async function listen(app: App, { access, site }: Serving, queues: Queues, roles: ReadonlySet<Role>) {
  const {
    config,
    database,
    databaseUrl,
    replica,
    environment: { host, port },
    clock,
    log,
    budgets,
  } = app;
  const gate = new ReadGate(databaseUrl, { yields: app.embedded }, replica);
  const server = buildServer({
    sql: database.reader,
    gate,
    replica,
    clock,
    access,
    log,
    queueReachable: () => queues.polls.getJobCounts(),
    queues: viewOf(queues),
    names: [host, ...config.server.names],
    budgets,
    recorder: {
      name: config.name,
      network: config.network,
      simulated: app.sandbox !== null,
      directory: app.embeddedDirectory,
    },
    watched: app.watched,
    upstreams: config.upstreams,
    counts: app.counts,
    site,
    recording: roles.has('worker') ? () => app.counts.recording : null,
  });
  server.addHook('onClose', () => gate.close());
  try {
    log.info({ address: await server.listen({ host, port }) }, 'the server listened');
    return server;
  } catch (error) {
    const fault = listenFault(error, host, port);
    throw fault ? new UsageError([`${fault.setting}: ${fault.cause}: ${fault.mend}`]) : error;
  }
}

/** Seals the days that ended since the last seal. */
async function sealAndTell(
  { database, databaseUrl, clock, environment: { sealKey }, log }: App,
  signal: AbortSignal,
): Promise<void> {
  const made = await sealDays(database.sql, { databaseUrl, clock, key: sealKey, signal });
  if (!made) return;
  const { seal, until, head, rows, ends, late } = made;
  log.info(
    { seal, until, head, rows, ends, late, signed: made.signature !== null },
    'what was recorded is sealed',
  );
}

async function warnOfSkew({ database, clock, log }: App): Promise<void> {
  const skew = await clockSkew(database.sql, clock);
  if (Math.abs(skew) > TOLERATED_SKEW)
    log.warn({ skew }, 'the clock differs from the database: run NTP on both machines');
}

/**
 * Refuses a Redis that would lose schedules and jobs, keep them elsewhere, or give them to another recorder. A Redis that is away is not waited for:
 * `doctor`, or the next start, checks it.
 * @throws UsageError when there is an objection to the Redis
 */
async function refuseUnfit(queue: RecorderQueue): Promise<void> {
  const later = new Promise<null>((resolve) => setTimeout(resolve, QUEUE_PATIENCE, null).unref());
  const objection = await Promise.race([queue.objection(), later]);
  if (objection === null) return;
  const { found, mend } = objection;
  throw new UsageError([`REDIS_URL: this Redis is not fit for the queue: ${found}: ${mend}`]);
}
