import { openChannel } from '../alerts/channel.ts';
import { testCustomRules } from '../alerts/configured-rules.ts';
import type { App } from '../app/app.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { type Queues, startWorkers } from '../jobs/workers.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { RunResult } from '../recording/context.ts';
import type { ProcessRegistration } from '../recording/process-registration.ts';
import { type SendingContext, sendChanges } from '../warehouse/send-changes.ts';
import { type AlertResources, createAlertJobs, openAlertResources } from './alert-work.ts';
import { createSendingContext } from './change-sink-work.ts';
import { createExportJobs } from './export-work.ts';
import { logProgress } from './log-start.ts';
import { ProberSwitch } from './prober-role.ts';
import type { IntervalRunner } from './repeated-work.ts';

/** Interval of the check for changes to send to sinks, in ms. */
const SEND_INTERVAL_MS = 1_000;
const PROGRESS_INITIAL_DELAY_MS = 8_000;
const PROGRESS_INTERVAL_MS = 600_000;
/** Timeout for stopping runs in progress, in ms. The whole stop must take less than 20 s. */
const STOP_TIMEOUT_MS = 8_000;

/** Open resources of a worker besides its queues. */
interface WorkerResources {
  readonly alerting: AlertResources;
  /** Context for sending changes; null if no sink is configured. */
  readonly sending: SendingContext | null;
}

/**
 * Opens the alerts and change sinks of a worker.
 * @throws UsageError if a variable that a channel or sink references is missing
 */
export async function openWorkerResources(app: App, signal: AbortSignal): Promise<WorkerResources> {
  const alerting = openAlertResources(app);
  // Channels are opened at the start, because Node.js never retries a failed import of a module. Imports fail
  // while `npm ci` replaces the packages.
  await Promise.all(app.config.alerts.channels.map((one) => openChannel(one, alerting.secrets)));
  for (const untried of await testCustomRules(app.config.alerts, app.databaseUrl, signal))
    app.log.warn(untried, 'a query of an alert rule was not validated: its rounds will report errors');
  return { alerting, sending: app.config.changes.sinks.length > 0 ? createSendingContext(app) : null };
}

/** Context of a worker. */
export interface WorkerRoleContext {
  readonly app: App;
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly registration: ProcessRegistration;
  readonly outlets: WorkerResources;
  readonly repeating: IntervalRunner;
  /** Aborts messages in progress. */
  readonly signal: AbortSignal;
  /** True if the progress is logged periodically. False if a live summary is drawn instead. */
  readonly logsProgress: boolean;
}

/** A running worker. */
export interface RunningWorker {
  /**
   * Starts or stops the prober.
   * @param relieved true if another process probes the nodes
   */
  follow(relieved: boolean): void;
  /** Stops the worker. Runs in progress may finish their next commit. */
  stop(): Promise<void>;
}

/** Starts recording, probing the nodes, and sending alerts, exports and changes, until stopped. */
export async function startWorker({
  app,
  backend,
  queues,
  registration,
  outlets: { alerting, sending },
  repeating,
  signal,
  logsProgress,
}: WorkerRoleContext): Promise<RunningWorker> {
  const { config, counts } = app;
  const finished: RunResult[] = [];
  const stopWorkers = await startWorkers(backend, queues, {
    sql: app.database.sql,
    clock: app.clock,
    feeds: app.feeds,
    recording: app.recording,
    log: app.log,
    peers: registration,
    alerts: createAlertJobs(alerting),
    ...(config.exports.length > 0 && { exports: createExportJobs(app) }),
    during: (run) => counts.during(run),
    finished: (result) => {
      counts.run(result);
      if (logsProgress) finished.push(result);
    },
  });
  if (sending)
    // One schedule per sink, so that a slow sink or a large backlog does not delay others.
    for (const sink of config.changes.sinks)
      repeating.every(SEND_INTERVAL_MS, `sending changes to ${sink.name}`, async () => {
        if (registration.position.newest) await sendChanges(sending, sink, signal);
      });
  if (logsProgress) {
    const logFinished = () => logProgress(app, finished.splice(0));
    repeating.once(PROGRESS_INITIAL_DELAY_MS, 'counting', logFinished);
    repeating.every(PROGRESS_INTERVAL_MS, 'counting', logFinished, PROGRESS_INTERVAL_MS);
  }
  const nodes = new ProberSwitch(app, registration);
  return {
    follow: (relieved) => nodes.follow(relieved),
    stop: async () => {
      await Promise.all([stopWorkers(STOP_TIMEOUT_MS), withTimeout(STOP_TIMEOUT_MS, nodes.stop())]);
      await alerting.close();
    },
  };
}
