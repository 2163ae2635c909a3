import { setTimeout as delay } from 'node:timers/promises';
import type { Window } from '../datasets/contract.ts';
import { LEASE_SECONDS } from '../db/leases.ts';
import { steadyClock } from '../lib/clock.ts';
import type { ActiveFeed } from './active-feed.ts';
import type { RecordingContext, RunResult } from './context.ts';
import type { Job } from './job.ts';
import { record } from './record.ts';
import { targetKey } from './target-key.ts';

const MAX_CONCURRENT_TARGETS = 4;
/** Maximum wait for a lease, in ms. The lease of a killed worker expires within this time. */
const LEASE_WAIT_TIMEOUT_MS = (LEASE_SECONDS + 4) * 1000;
const LEASE_CHECK_INTERVAL_MS = 500;
/**
 * Pause of a backfill after each {@link YIELD_INTERVAL_MS}, in ms. The pause releases the target, so that a
 * poll, which checks the lease once a second, can acquire the target.
 */
const YIELD_MS = 1_200;
/** Time between two pauses of a backfill, in ms. */
const YIELD_INTERVAL_MS = 20_000;

/** Progress callbacks of running jobs. */
export interface JobCallbacks {
  /** Called after every commit, with the part of the window of the job that is covered now. */
  covered?(job: Job, window: Window | null): void;
  /** Called after every run. */
  finished?(job: Job, result: RunResult): void;
}

/**
 * Runs jobs in this process, without the queue: several targets concurrently, the jobs of one target in
 * order. If a run fails, the remaining jobs of its target are skipped.
 * @returns the runs, the targets that another worker held all the time, and the number of jobs that did not
 * run because the signal aborted
 */
export async function runJobs(
  context: RecordingContext,
  feed: ActiveFeed,
  jobs: readonly Job[],
  signal: AbortSignal,
  watching: JobCallbacks = {},
): Promise<{ runs: RunResult[]; busy: string[]; left: number }> {
  const runs: RunResult[] = [];
  const busy: string[] = [];
  const byTarget = new Map<string, Job[]>();
  for (const job of jobs) {
    const key = targetKey(job.target);
    byTarget.set(key, [...(byTarget.get(key) ?? []), job]);
  }
  const waiting = [...byTarget];
  const work = async () => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
      const [key, mine] = next;
      let yieldedAt = steadyClock();
      for (const job of mine) {
        if (job.reason === 'backfill' && steadyClock() - yieldedAt >= YIELD_INTERVAL_MS) {
          await delay(YIELD_MS, undefined, { signal }).catch(() => {});
          yieldedAt = steadyClock();
        }
        const result = await recordWhenFree(context, feed, job, signal, watching);
        if (result) {
          runs.push(result);
          watching.finished?.(job, result);
        } else busy.push(key);
        if (signal.aborted || !result || (result.status !== 'done' && result.status !== 'partial')) break;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_TARGETS }, work));
  const ended = runs.filter(({ status }) => status !== 'stopped').length;
  return { runs, busy, left: signal.aborted ? jobs.length - ended : 0 };
}

async function recordWhenFree(
  context: RecordingContext,
  feed: ActiveFeed,
  job: Job,
  signal: AbortSignal,
  watching: JobCallbacks,
): Promise<RunResult | null> {
  for (let waited = 0; ; waited += LEASE_CHECK_INTERVAL_MS) {
    const result = await record(context, feed, job, signal, (window) => watching.covered?.(job, window));
    if (typeof result !== 'string') return result;
    if (result === 'outdated' || waited >= LEASE_WAIT_TIMEOUT_MS || signal.aborted) return null;
    await delay(LEASE_CHECK_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
