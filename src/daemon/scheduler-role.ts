import type { App } from '../app/app.ts';
import type { QueueBackend, RecorderQueue } from '../jobs/backend.ts';
import { ALERTS, alertsJob, EXPORTS, exportsJob, planJob } from '../jobs/jobs.ts';
import { queueKeys } from '../jobs/queue-look.ts';
import { reconcileSchedules } from '../jobs/schedules.ts';
import { noteQueues, QueueWatch } from '../jobs/seen-queues.ts';
import { noteSchedules } from '../jobs/seen-schedules.ts';
import type { Queues } from '../jobs/workers.ts';
import type { Membership } from '../recording/membership.ts';
import { packRuns } from '../recording/pack-runs.ts';
import { endUnwatched } from '../recording/retire-removed-targets.ts';
import { countUpRuns } from '../recording/run-days.ts';
import { sealDays } from '../reporting/seals/seal.ts';
import { retainInTurn } from './apply-retention.ts';
import { trimChanges } from './change-sink-work.ts';
import { closeInTurn } from './close-past-days.ts';
import { compareInTurn } from './compare-sources.ts';
import { logBudgets } from './log-start.ts';
import type { Repeating } from './repeated-work.ts';

/** How often schedules are checked, ms: lost ones are back within 30 s, also when one round fails. */
const RECONCILE_EVERY = 14_000;
const COUNT_EVERY = 600_000;
/** How often it is asked whether a day is to be sealed. */
const SEAL_EVERY = 600_000;
const FIRST_SEALING = 30_000;
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

/** What a scheduler works with. */
export interface Scheduling {
  readonly app: App;
  readonly queues: Queues;
  readonly kind: QueueBackend['kind'];
  readonly membership: Membership;
  readonly repeating: Repeating;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Plans all feeds and exports at once: what is due after a stop of any length does not wait for the next tick. */
export async function planAll({ config, feeds }: App, polls: RecorderQueue): Promise<void> {
  for (const feed of feeds) {
    const { name, data, opts } = planJob(feed.source.name, 'start');
    await polls.add(name, data, opts);
  }
  if (config.exports.length === 0) return;
  const { name, data } = exportsJob();
  await polls.add(name, data, { removeOnComplete: true, removeOnFail: true });
}

/**
 * Holds the schedules against the configuration, and looks after what is recorded: counts runs up, closes and seals days, removes what
 * is not kept, compares the sources. What the configuration decides is left to a process with the newest one.
 */
export function keepSchedules({ app, queues, kind, membership, repeating, signal }: Scheduling): void {
  const { config, database, clock, log } = app;
  const whileNewest = (work: () => Promise<unknown>) => async () => {
    if (membership.standing.newest) await work();
  };
  repeating.once(0, 'comparing with the budgets', () => logBudgets(app));
  const others = [
    { id: ALERTS, every: config.alerts.every, job: alertsJob() },
    ...(config.exports.length > 0 ? [{ id: EXPORTS, every: EXPORTS_EVERY, job: exportsJob() }] : []),
  ];
  repeating.every(
    RECONCILE_EVERY,
    'holding the schedules',
    whileNewest(async () => {
      const { recorder } = membership;
      const { seen } = await reconcileSchedules(app.databaseUrl, queues, app.feeds, log, recorder, others);
      if (seen) await noteSchedules(database.sql, recorder, seen, Date.now());
    }),
  );
  const watched = queueKeys.map((name) => new QueueWatch(name, queues[name], kind));
  repeating.every(
    RECONCILE_EVERY,
    'looking after the queues',
    whileNewest(async () => {
      const found = await Promise.all(watched.map((one) => one.look()));
      await noteQueues(database.sql, membership.recorder, found);
    }),
  );
  repeating.every(COUNT_EVERY, 'counting up runs', () =>
    countUpRuns(database.sql, clock(), config.runs.keep, signal),
  );
  repeating.every(COUNT_EVERY, 'packing runs', () =>
    packRuns(database.sql, clock(), config.runs.keep, signal),
  );
  const trim = () => trimChanges(app, signal);
  repeating.every(COUNT_EVERY, 'trimming the change feed', whileNewest(trim));
  const close = () => closeInTurn(app, signal);
  repeating.every(CLOSE_EVERY, 'closing the days of readings and noting contradictions', close, CLOSE_FIRST);
  const retain = () => retainInTurn(app, signal);
  repeating.every(RETAIN_EVERY, 'removing what is not kept any more', whileNewest(retain), RETAIN_FIRST);
  const seal = () => sealAndTell(app, signal);
  repeating.every(SEAL_EVERY, 'sealing', whileNewest(seal), FIRST_SEALING);
  const compare = () => compareInTurn(app, COMPARE_EVERY, signal);
  repeating.every(COMPARE_EVERY, 'comparing the sources', whileNewest(compare), COMPARE_FIRST);
  const end = () => endUnwatched(app.recording, membership.registrant, log);
  repeating.every(END_UNWATCHED_EVERY, 'ending what nobody asks for any more', whileNewest(end));
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
