import type { App } from '../app/app.ts';
import { openComparisonConnection, openSealConnection } from '../db/client.ts';
import { LOCKS } from '../db/row-lock.ts';
import type { QueueBackend, RecorderQueue } from '../jobs/backend.ts';
import { ALERTS, alertsJob, EXPORTS, exportsJob, planJob } from '../jobs/jobs.ts';
import { queueKeys } from '../jobs/queue-content.ts';
import { QueueWatch, storeQueueStates } from '../jobs/queue-states.ts';
import { storeSchedules } from '../jobs/schedule-states.ts';
import { reconcileSchedules } from '../jobs/schedules.ts';
import type { Queues } from '../jobs/workers.ts';
import { closeDays } from '../recording/close-days.ts';
import type { ProcessRegistration } from '../recording/process-registration.ts';
import { retireRemovedTargets } from '../recording/retire-removed-targets.ts';
import { aggregateRuns } from '../recording/run-days.ts';
import { storeContradictions } from '../recording/store-contradictions.ts';
import { compareSources } from '../reporting/checks/compare.ts';
import { sealDays } from '../reporting/seals/seal.ts';
import { applyRetention } from './apply-retention.ts';
import { trimChanges } from './change-sink-work.ts';
import { logBudgets } from './log-start.ts';
import type { IntervalRunner } from './repeated-work.ts';
import { withExclusiveLock } from './with-exclusive-lock.ts';

/**
 * Interval of the schedule check, in ms: lost schedules are restored within 30 s, even if one round fails.
 */
const RECONCILE_INTERVAL_MS = 14_000;
const MAINTENANCE_INTERVAL_MS = 600_000;
/** Interval of the check for a day to seal, in ms. */
const SEAL_CHECK_INTERVAL_MS = 600_000;
const SEAL_INITIAL_DELAY_MS = 30_000;
const END_UNWATCHED_INTERVAL_MS = 10_000;
/** Interval of the comparison of sources, in ms. Metrics are polled once an hour. */
const COMPARE_INTERVAL_MS = 3_600_000;
/** Delay of the first comparison, in ms. Data missed while the recorder was off is fetched first. */
const COMPARE_INITIAL_DELAY_MS = 120_000;
/** Interval of packing the readings of past days, in ms. Late readings are packed within an hour. */
const CLOSE_INTERVAL_MS = 3_600_000;
const CLOSE_INITIAL_DELAY_MS = 60_000;
/**
 * Interval of the removal of old rows, in ms. The start of the retention moves once a day; failed removals are retried within an hour.
 */
const RETENTION_INTERVAL_MS = 3_600_000;
/** Delay of the first removal, in ms. A clock that is wrong at the boot of a machine is correct by then. */
const RETENTION_INITIAL_DELAY_MS = 600_000;
/** Interval of the check for due exports, in ms. */
const EXPORT_CHECK_INTERVAL_MS = 60_000;

/** Context of a scheduler. */
export interface SchedulerContext {
  readonly app: App;
  readonly queues: Queues;
  readonly kind: QueueBackend['kind'];
  readonly registration: ProcessRegistration;
  readonly repeating: IntervalRunner;
  /** Aborts work in progress. */
  readonly signal: AbortSignal;
}

/**
 * Plans all feeds and exports immediately, so that work that became due during a stop does not wait for the
 * next tick.
 */
export async function enqueueAllPlans({ config, feeds }: App, polls: RecorderQueue): Promise<void> {
  for (const feed of feeds) {
    const { name, data, opts } = planJob(feed.source.name, 'start');
    await polls.add(name, data, opts);
  }
  if (config.exports.length === 0) return;
  const { name, data } = exportsJob();
  await polls.add(name, data, { removeOnComplete: true, removeOnFail: true });
}

/**
 * Reconciles the schedules with the configuration, and maintains the recorded data: aggregates runs, closes
 * and seals days, applies the retention, compares the sources. Work that depends on the configuration runs
 * only in a process with the newest configuration.
 */
export function keepSchedules({
  app,
  queues,
  kind,
  registration,
  repeating,
  signal,
}: SchedulerContext): void {
  const { config, database, clock, log } = app;
  const whileNewest = (work: () => Promise<unknown>) => async () => {
    if (registration.position.newest) await work();
  };
  repeating.once(0, 'comparing with the budgets', () => logBudgets(app));
  const others = [
    { id: ALERTS, every: config.alerts.every, job: alertsJob() },
    ...(config.exports.length > 0
      ? [{ id: EXPORTS, every: EXPORT_CHECK_INTERVAL_MS, job: exportsJob() }]
      : []),
  ];
  repeating.every(
    RECONCILE_INTERVAL_MS,
    'holding the schedules',
    whileNewest(async () => {
      const { recorder } = registration;
      const { states } = await reconcileSchedules(app.databaseUrl, queues, app.feeds, log, recorder, others);
      if (states) await storeSchedules(database.sql, recorder, states, Date.now());
    }),
  );
  const watched = queueKeys.map((name) => new QueueWatch(name, queues[name], kind));
  repeating.every(
    RECONCILE_INTERVAL_MS,
    'monitoring the queues',
    whileNewest(async () => {
      const found = await Promise.all(watched.map((one) => one.check()));
      await storeQueueStates(database.sql, registration.recorder, found);
    }),
  );
  repeating.every(MAINTENANCE_INTERVAL_MS, 'aggregating runs', () =>
    aggregateRuns(database.sql, clock(), config.runs, signal),
  );
  const trim = () => trimChanges(app, signal);
  repeating.every(MAINTENANCE_INTERVAL_MS, 'trimming the change feed', whileNewest(trim));
  const close = () => closePastDays(app, signal);
  repeating.every(
    CLOSE_INTERVAL_MS,
    'closing days of readings and storing contradictions',
    close,
    CLOSE_INITIAL_DELAY_MS,
  );
  const retain = () => applyRetention(app, signal);
  repeating.every(
    RETENTION_INTERVAL_MS,
    'applying the retention',
    whileNewest(retain),
    RETENTION_INITIAL_DELAY_MS,
  );
  const seal = () => sealAndLog(app, signal);
  repeating.every(SEAL_CHECK_INTERVAL_MS, 'sealing', whileNewest(seal), SEAL_INITIAL_DELAY_MS);
  const compare = () => compareSourcesExclusively(app, COMPARE_INTERVAL_MS, signal);
  repeating.every(
    COMPARE_INTERVAL_MS,
    'comparing the sources',
    whileNewest(compare),
    COMPARE_INITIAL_DELAY_MS,
  );
  const end = () => retireRemovedTargets(app.recording, registration.registrant, log);
  repeating.every(
    END_UNWATCHED_INTERVAL_MS,
    'retiring targets that are no longer configured',
    whileNewest(end),
  );
}

/** Seals the days that ended since the last seal, and logs the seal. */
async function sealAndLog(
  { database, databaseUrl, clock, environment: { sealKey }, log }: App,
  signal: AbortSignal,
): Promise<void> {
  const newSeal = await sealDays(database.sql, { databaseUrl, clock, key: sealKey, signal });
  if (!newSeal) return;
  const { seal, until, head, rows, ends, late } = newSeal;
  log.info(
    { seal, until, head, rows, ends, late, signed: newSeal.signature !== null },
    'the recorded data was sealed',
  );
}

/**
 * Compares the sources. Does nothing if another process is comparing, or if the last comparison started less
 * than half of `every` ago. New discrepancies are logged as a warning.
 * @param every interval of the comparisons, in ms
 */
async function compareSourcesExclusively(app: App, every: number, signal: AbortSignal): Promise<void> {
  const { databaseUrl, clock, log } = app;
  const sql = openComparisonConnection(databaseUrl);
  await withExclusiveLock(databaseUrl, LOCKS.compare, sql, signal, async () => {
    const now = clock();
    const [last] = await sql<{ at: Date | null }[]>`select max(checked_at) as at from recorder.check_runs`;
    if (last?.at && Math.abs(now - last.at.getTime()) < every / 2) return;
    const { discovered, failed, ...counts } = await compareSources(sql, now, signal);
    for (const one of failed) log.warn(one, 'the sources could not be compared');
    const fields = { ...counts, discovered };
    if (discovered > 0)
      log.warn(fields, 'sources contradict each other: chain-recorder report discrepancies');
    else log.debug(fields, 'the sources were compared');
  });
}

/** Timeout of the statement that packs one day, in ms. */
const PACK_TIMEOUT_MS = 10 * 60_000;

/**
 * Packs the readings of past days and stores contradictions between rows, unless another process is doing so.
 * A failed day is logged and retried in the next round.
 */
async function closePastDays({ databaseUrl, clock, log }: App, signal: AbortSignal): Promise<void> {
  const sql = openSealConnection(databaseUrl, PACK_TIMEOUT_MS);
  await withExclusiveLock(databaseUrl, LOCKS.close, sql, signal, async () => {
    const { failed, ...closed } = await closeDays(sql, clock(), signal);
    for (const one of failed) log.warn(one, 'a day of readings could not be packed: it stays unpacked');
    if (closed.packed + closed.kept > 0) log.debug(closed, 'days of readings were closed');
    // Contradictions are stored last, so that a failure does not affect the closing of days.
    await storeContradictions(sql, clock(), signal);
  });
}
