import type { App } from '../app/app.ts';
import { clockSkew, TOLERATED_SKEW } from '../db/clock-skew.ts';
import { isAway } from '../db/connection-error.ts';
import { noteReplica } from '../db/replica.ts';
import { CLAIM_EVERY, type QueueBackend } from '../jobs/backend.ts';
import type { Queues } from '../jobs/workers.ts';
import { steadyClock } from '../lib/clock.ts';
import { UsageError } from '../lib/errors.ts';
import { within } from '../lib/with-timeout.ts';
import { Watchdog } from '../reporting/reports/watchdog.ts';
import { LiveSummary, screenOf } from './live-summary.ts';
import { logStart } from './log-start.ts';
import { joinPeers, Lead } from './peers.ts';
import { Repeating } from './repeated-work.ts';
import type { Role } from './roles.ts';
import { keepSchedules, planAll } from './scheduler-role.ts';
import { listen, prepared, type Serving } from './server-role.ts';
import type { ServiceManager } from './service-manager.ts';
import { withQueues } from './with-queues.ts';
import { openOutlets, startWorking } from './worker-role.ts';

/** How often the watchdog looks, ms: what is stalled is logged well within a minute. */
const WATCH_EVERY = 15_000;
/** How often a process shows that it lives, and checks whether a newer configuration is in place; ms. */
const BEAT_EVERY = 5_000;
const CLOCK_CHECK_EVERY = 300_000;
/** How often it is looked how far the replica is behind, ms. */
const REPLICA_EVERY = 10_000;
const LAST_WORD_WITHIN = 1_000;
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
      work({ app, roles, serving, backend, queues, watchers }, signal),
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

/** What `up` works with, once its queues are open. */
interface Upstart {
  readonly app: App;
  readonly roles: ReadonlySet<Role>;
  /** null: there is no server. */
  readonly serving: Serving | null;
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly watchers: UpWatchers | undefined;
}

async function work(
  { app, roles, serving, backend, queues, watchers }: Upstart,
  signal: AbortSignal,
): Promise<void> {
  const { log, database, replica } = app;
  const outlets = roles.has('worker') ? await openOutlets(app, signal) : null;
  const membership = await joinPeers(app, roles, signal);
  const lead = new Lead(app, membership);
  try {
    await lead.follow();
  } catch (error) {
    await membership.leave();
    throw error;
  }
  const server = serving ? await listen(app, serving, queues, roles, membership) : null;
  const origin = server?.listeningOrigin ?? null;
  const repeating = new Repeating(log);
  logStart(app, backend.kind, origin);
  const screen = screenOf(app);
  const summary = screen ? new LiveSummary(app, screen, origin) : null;
  if (summary) repeating.every(SHOW_EVERY, 'showing how it stands', () => summary.show());
  repeating.every(CLAIM_EVERY, 'claiming the queue', () => queues.polls.claim());
  repeating.every(CLOCK_CHECK_EVERY, 'comparing clocks', () => warnOfSkew(app));
  if (replica)
    repeating.every(REPLICA_EVERY, 'looking at the replica', async () =>
      noteReplica(database.sql, app.config.name, replica.place, await replica.look(database.reader)),
    );
  const watchdog = new Watchdog(database.reader, log, steadyClock);
  repeating.every(WATCH_EVERY, 'looking for what is stalled', () => watchdog.look());
  const worker = outlets
    ? await startWorking({
        app,
        backend,
        queues,
        membership,
        outlets,
        repeating,
        signal,
        tells: summary === null,
      })
    : null;
  const plan = async () => {
    if (roles.has('scheduler') && membership.standing.newest) await planAll(app, queues.polls);
  };
  repeating.once(0, 'planning', plan);
  repeating.every(BEAT_EVERY, 'looking after the other processes', async () => {
    try {
      const { relieved } = await membership.beat();
      worker?.follow(relieved);
      if (await lead.follow()) await plan();
    } finally {
      watchers?.service.alive(); // also while the database is away: a restart would mend nothing
    }
  });
  if (roles.has('scheduler'))
    keepSchedules({ app, queues, kind: backend.kind, membership, repeating, signal });
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
  const left = membership.leave().catch(() => {}); // when this fails, the process counts as dead after a while
  await within(LAST_WORD_WITHIN, left);
}

async function warnOfSkew({ database, clock, log }: App): Promise<void> {
  const skew = await clockSkew(database.sql, clock);
  if (Math.abs(skew) > TOLERATED_SKEW)
    log.warn({ skew }, 'the clock differs from the database: run NTP on both machines');
}
