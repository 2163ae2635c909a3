import { tryOwnRules } from '../alerts/configured-rules.ts';
import type { App } from '../app/app.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { type Queues, startWorkers } from '../jobs/workers.ts';
import { within } from '../lib/with-timeout.ts';
import type { RunResult } from '../recording/context.ts';
import type { Membership } from '../recording/membership.ts';
import { type SendingContext, sendChanges } from '../warehouse/send-changes.ts';
import { type Alerting, alertWork, openAlerts } from './alert-work.ts';
import { sendingOf } from './change-sink-work.ts';
import { exportWork } from './export-work.ts';
import { logProgress } from './log-start.ts';
import { ProberSwitch } from './prober-role.ts';
import type { Repeating } from './repeated-work.ts';

/** Interval of the check for changes to send to sinks, in ms. */
const SEND_EVERY = 1_000;
const FIRST_TELLING = 8_000;
const TELL_EVERY = 600_000;
/** Timeout for stopping runs in progress, in ms. The whole stop must take less than 20 s. */
const STOP_WITHIN = 8_000;

/** Open resources of a worker besides its queues. */
interface Outlets {
  readonly alerting: Alerting;
  /** Context for sending changes; null if no sink is configured. */
  readonly sending: SendingContext | null;
}

/**
 * Opens the alerts and change sinks of a worker.
 * @throws UsageError if a variable that a channel or sink references is missing
 */
export async function openOutlets(app: App, signal: AbortSignal): Promise<Outlets> {
  const alerting = openAlerts(app);
  for (const untried of await tryOwnRules(app.config.alerts, app.databaseUrl, signal))
    app.log.warn(untried, 'a query of alerts was not tried: its rounds will tell what is wrong');
  return { alerting, sending: app.config.changes.sinks.length > 0 ? sendingOf(app) : null };
}

/** Context of a worker. */
export interface Working {
  readonly app: App;
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly membership: Membership;
  readonly outlets: Outlets;
  readonly repeating: Repeating;
  /** Aborts messages in progress. */
  readonly signal: AbortSignal;
  /** True if the progress is logged periodically. False if a live summary shows it. */
  readonly tells: boolean;
}

/** A running worker. */
export interface WorkerSide {
  /** @param relieved true if another process probes the nodes */
  follow(relieved: boolean): void;
  /** Stops the worker. Runs in progress may finish their next commit. */
  stop(): Promise<void>;
}

/** Starts recording, probing the nodes, and sending alerts, exports and changes, until stopped. */
export async function startWorking({
  app,
  backend,
  queues,
  membership,
  outlets: { alerting, sending },
  repeating,
  signal,
  tells,
}: Working): Promise<WorkerSide> {
  const { config, counts } = app;
  const finished: RunResult[] = [];
  const stopWorkers = await startWorkers(backend, queues, {
    sql: app.database.sql,
    clock: app.clock,
    feeds: app.feeds,
    recording: app.recording,
    log: app.log,
    peers: membership,
    alerts: alertWork(alerting),
    ...(config.exports.length > 0 && { exports: exportWork(app) }),
    during: (run) => counts.during(run),
    finished: (result) => {
      counts.run(result);
      if (tells) finished.push(result);
    },
  });
  if (sending)
    // One schedule per sink, so that a slow sink or a large backlog does not delay others.
    for (const sink of config.changes.sinks)
      repeating.every(SEND_EVERY, `sending changes to ${sink.name}`, async () => {
        if (membership.standing.newest) await sendChanges(sending, sink, signal);
      });
  if (tells) {
    const tell = () => logProgress(app, finished.splice(0));
    repeating.once(FIRST_TELLING, 'counting', tell);
    repeating.every(TELL_EVERY, 'counting', tell, TELL_EVERY);
  }
  const nodes = new ProberSwitch(app, membership);
  return {
    follow: (relieved) => nodes.follow(relieved),
    stop: async () => {
      await Promise.all([stopWorkers(STOP_WITHIN), within(STOP_WITHIN, nodes.stop())]);
      await alerting.close();
    },
  };
}
