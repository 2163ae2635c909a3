import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Target } from '../datasets/contract.ts';
import { yieldChunks } from '../lib/chunk.ts';
import type { Clock } from '../lib/clock.ts';
import { LeaseLostError, toErrorMessage } from '../lib/errors.ts';
import { untraced } from '../lib/trace.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { ActiveFeed } from '../recording/active-feed.ts';
import type { Registrant } from '../recording/configuration.ts';
import type { RecordingContext, RunResult } from '../recording/context.ts';
import type { Job } from '../recording/job.ts';
import { loadStates, planDue } from '../recording/plan.ts';
import { record } from '../recording/record.ts';
import { registerTargets } from '../recording/register.ts';
import { targetKey } from '../recording/target-key.ts';
import { type AlertTasks, processAlertJob } from './alert-jobs.ts';
import type { JobProcessor, QueueBackend, RecorderQueue } from './backend.ts';
import { UnrecoverableError } from './bullmq.ts';
import { type ExportTasks, processExportJob } from './export-jobs.ts';
import {
  assignJob,
  createSubjectCheck,
  queryActiveTargetKeys,
  type RecorderPeers,
  SkippedJobLog,
} from './job-assignment.ts';
import { jobData, queueNames, type RecordJob, recordJob } from './jobs.ts';
import { postponeJob } from './postpone-job.ts';

const MAX_CONCURRENT_POLLS = 8;
const MAX_CONCURRENT_HEALS = 2;
/** Number of targets of a feed that are planned and enqueued in one batch. */
const PLAN_BATCH_SIZE = 1_000;
/**
 * Delay before the retry of a job, in ms, if another run holds the target or the job is for another process.
 */
const HELD_RETRY_DELAY_MS = 1_000;

/** Dependencies of the workers. */
export interface WorkerContext {
  readonly sql: postgres.Sql;
  readonly clock: Clock;
  readonly feeds: readonly ActiveFeed[];
  readonly recording: RecordingContext;
  readonly log: Log;
  /** The other processes of the recorder. Undefined: there are no other processes. */
  readonly peers?: RecorderPeers & { readonly registrant: Registrant };
  /** Alert tasks. Undefined: this process evaluates no alerts. */
  readonly alerts?: AlertTasks;
  /** Export tasks. Undefined: there are no scheduled exports. */
  readonly exports?: ExportTasks;
  /** Wraps each run, to track runs in progress. Default: runs are called directly. */
  readonly during?: <T>(run: () => Promise<T>) => Promise<T>;
  /** Called after every run. */
  readonly finished?: (result: RunResult) => void;
}

/** Queues that plans add jobs to. */
export interface Queues {
  readonly polls: RecorderQueue;
  readonly heals: RecorderQueue;
}

/**
 * Starts the workers of both queues.
 * @returns a function that stops the workers; runs stop between two commits
 */
export async function startWorkers(
  backend: QueueBackend,
  queues: Queues,
  context: WorkerContext,
): Promise<(deadline: number) => Promise<void>> {
  const stopping = new AbortController();
  const work = workOf(queues, context, stopping.signal);
  const names = queueNames(context.peers?.recorder);
  const workers = [
    await backend.worker(names.polls, work, { concurrency: MAX_CONCURRENT_POLLS }),
    await backend.worker(names.heals, work, { concurrency: MAX_CONCURRENT_HEALS }),
  ];
  return async (deadline) => {
    stopping.abort();
    // A worker whose Redis stopped responding closes only after its socket timeout.
    await withTimeout(deadline, Promise.allSettled(workers.map((worker) => worker.close())));
  };
}

/**
 * Adds jobs for missing data of a feed to the queues. A process with an older configuration plans only
 * targets that the newest configuration also contains.
 */
export function planFeed(context: WorkerContext, queues: Queues, feed: ActiveFeed): Promise<void> {
  const { traced = untraced } = context.recording;
  return traced({ name: 'plan', attributes: { 'recorder.feed': feed.source.name } }, async (addAttributes) =>
    addAttributes({ 'recorder.jobs': await planTargets(context, queues, feed) }),
  );
}

/** Plans a feed. Returns the number of added jobs, including jobs that were already in the queue. */
async function planTargets(
  { sql, clock, peers }: WorkerContext,
  queues: Queues,
  whole: ActiveFeed,
): Promise<number> {
  await registerTargets(sql, whole, clock(), peers?.registrant);
  const feed =
    !peers || peers.position.newest ? whole : await selectActiveTargets(sql, peers.recorder, whole);
  const [states, now] = [await loadStates(sql, feed), clock()];
  let count = 0;
  // Targets are planned in batches, so that a long list neither blocks the event loop nor becomes a single
  // command to the queue.
  for await (const targets of yieldChunks(feed.targets, PLAN_BATCH_SIZE)) {
    const jobs = planDue({ ...feed, targets }, states, now);
    const [polls, heals] = [
      jobs.filter(({ reason }) => reason === 'poll'),
      jobs.filter(({ reason }) => reason !== 'poll'),
    ];
    if (polls.length > 0) await queues.polls.addBulk(polls.map((job) => recordJob(feed, job)));
    if (heals.length > 0) await queues.heals.addBulk(heals.map((job) => recordJob(feed, job)));
    count += jobs.length;
  }
  return count;
}

async function selectActiveTargets(
  sql: postgres.Sql,
  recorder: string,
  feed: ActiveFeed,
): Promise<ActiveFeed> {
  const keys = await queryActiveTargetKeys(sql, recorder, feed.source.name);
  return { ...feed, targets: feed.targets.filter((target) => keys.has(targetKey(target))) };
}

function workOf(queues: Queues, context: WorkerContext, signal: AbortSignal): JobProcessor {
  const feeds = new Map(context.feeds.map((feed) => [feed.source.name, feed]));
  const hasSubject = createSubjectCheck(context.feeds);
  const passed = new SkippedJobLog(context.log);
  return async (job, token) => {
    const data = jobData.parse(job.data);
    if (data.kind === 'alerts' || data.kind === 'deliver')
      return processAlertJob(context.alerts, queues.polls, data, {
        job,
        token,
        peers: context.peers,
        signal,
      });
    if (data.kind === 'exports' || data.kind === 'export')
      return processExportJob(context.exports, queues.heals, data, { peers: context.peers, signal });
    const place = await assignJob(context.sql, context.peers, hasSubject(data), data);
    if (place !== 'here') passed.logSkipped(place, data);
    if (place === 'elsewhere') return postponeJob(job, token, HELD_RETRY_DELAY_MS);
    const feed = feeds.get(data.feed);
    if (place === 'nowhere' || !feed) return;
    if (data.kind === 'plan') return planFeed(context, queues, feed);
    const result = await makeRun(context, feed, data, signal);
    if (result === 'held') return postponeJob(job, token, HELD_RETRY_DELAY_MS);
    if (result === 'over' || signal.aborted) return;
    if (data.reason !== 'poll' && data.reason !== 'heal') return;
    const hole = await nextHole(context, feed, data.target);
    if (!hole) return;
    const next = recordJob(feed, hole);
    if (data.reason === 'poll') {
      await queues.heals.add(next.name, next.data, next.opts);
      return;
    }
    // This job continues with the next hole.
    await job.updateData(next.data);
    return postponeJob(job, token);
  };
}

/**
 * Runs a job of a target.
 * @returns `held` if another run holds the target; `over` if the run stored no result, because the run or its
 * job was outdated
 * @throws UnrecoverableError if the run failed and a retry would not help
 * @throws Error if the run failed otherwise
 */
async function makeRun(
  context: WorkerContext,
  feed: ActiveFeed,
  data: RecordJob,
  signal: AbortSignal,
): Promise<'done' | 'held' | 'over'> {
  const { recording, log, finished, during = (run) => run() } = context;
  let result: Awaited<ReturnType<typeof record>>;
  try {
    result = await during(() => record(recording, feed, jobOf(data), signal));
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log.warn({ feed: data.feed, target: data.target }, toErrorMessage(error));
    return 'over';
  }
  if (result === 'held') return 'held';
  if (result === 'outdated') return 'over';
  logRun(context, result);
  finished?.(result);
  if (result.status !== 'failed') return 'done';
  const problem = result.error ?? 'the run failed';
  throw result.later ? new Error(problem) : new UnrecoverableError(problem);
}

/**
 * Returns the next hole of a target to heal after a run. Returns undefined if nothing is missing or a poll is
 * due.
 */
async function nextHole(
  { sql, clock }: WorkerContext,
  feed: ActiveFeed,
  target: Target,
): Promise<Job | undefined> {
  if (!feed.source.range) return undefined;
  const states = await loadStates(sql, feed, targetKey(target));
  const jobs = planDue({ ...feed, targets: [target] }, states, clock());
  return jobs.find(({ reason }) => reason === 'heal');
}

function jobOf({ target, window, reach, reason, datasets, plannedAt }: RecordJob): Job {
  return {
    target,
    window,
    reason,
    ...(reach === undefined ? {} : { reach }),
    ...(datasets === undefined ? {} : { datasets }),
    ...(plannedAt === undefined ? {} : { plannedAt }),
  };
}

function logRun(
  { log }: WorkerContext,
  { status, error, feed, target, runId, pages, rowsWritten, requests }: RunResult,
): void {
  const fields = {
    feed,
    target,
    run: runId,
    pages,
    rows: rowsWritten.reduce((sum, rows) => sum + rows, 0),
    requests,
  };
  if (status === 'failed') log.warn({ ...fields, error }, 'run failed');
  else if (status === 'unsupported')
    log.info({ ...fields, error }, 'the upstream does not offer the data of a run');
  else log.debug({ ...fields, status }, 'run ended');
}
