import type { Window } from '../datasets/contract.ts';
import { LEASE_SECONDS } from '../db/leases.ts';
import { AbortScope } from '../lib/abort-scope.ts';
import { LeaseLostError } from '../lib/errors.ts';
import { POSTGRESQL_ATTRIBUTES, untraced } from '../lib/trace.ts';
import { type ActiveFeed, selectDatasets } from './active-feed.ts';
import { claimRun, leaseKey, renewLease } from './claim-run.ts';
import type { RecordingContext, RunResult } from './context.ts';
import type { Job } from './job.ts';
import { Run } from './run.ts';
import { targetKey } from './target-key.ts';

/**
 * Runs a job. The run requests one page after the other and commits the rows together with their coverage.
 * Pages that arrive during a commit share the next commit.
 * @param progress called after every commit with the part of the window that is now covered
 * @returns the result, also if the upstream failed; `held` or `outdated` if there was no run
 * @throws LeaseLostError if another run acquired the lease of the target
 * @throws database errors
 */
export function record(
  context: RecordingContext,
  whole: ActiveFeed,
  job: Job,
  signal: AbortSignal,
  progress?: (covered: Window | null) => void,
): Promise<RunResult | 'held' | 'outdated'> {
  const { traced = untraced } = context;
  const attributes = {
    'recorder.feed': whole.source.name,
    'recorder.target': targetKey(job.target),
    'recorder.reason': job.reason,
  };
  return traced({ name: 'run', attributes }, async (addAttributes) => {
    const result = await claimAndRecord(context, whole, job, signal, progress);
    if (typeof result === 'string') addAttributes({ 'recorder.run.status': result });
    else
      addAttributes(
        {
          'recorder.run.id': result.runId,
          'recorder.run.status': result.status,
          'recorder.pages': result.pages,
          'recorder.rows': result.rowsWritten.reduce((sum, rows) => sum + rows, 0),
          'recorder.requests': result.requests,
        },
        result.status === 'failed' ? (result.error ?? 'the run failed') : undefined,
      );
    return result;
  });
}

async function claimAndRecord(
  context: RecordingContext,
  whole: ActiveFeed,
  job: Job,
  signal: AbortSignal,
  progress?: (covered: Window | null) => void,
): Promise<RunResult | 'held' | 'outdated'> {
  const { sql, clock, worker, traced = untraced } = context;
  const feed = selectDatasets(whole, job.datasets);
  const startedAt = new Date(clock()).toISOString();
  const runId = await traced({ name: 'claim', isClientCall: true, attributes: POSTGRESQL_ATTRIBUTES }, () =>
    claimRun(sql, feed, job, worker, startedAt),
  );
  if (typeof runId === 'string') return runId;
  const key = targetKey(job.target);
  const work = new AbortScope(signal);
  let lost = false;
  const lose = () => {
    lost = true;
    work.abort();
  };
  // Only one renewal runs at a time. A renewal waits for the commit of the run, and each waiting renewal
  // occupies a connection.
  let isRenewing = false;
  const heartbeat = setInterval(
    () => {
      if (isRenewing) return;
      isRenewing = true;
      renewLease(sql, feed.source.name, leaseKey(feed.source, job.target), runId)
        .then(
          (kept) => kept || lose(),
          () => {}, // the commit detects an unavailable database
        )
        .finally(() => {
          isRenewing = false;
        });
    },
    (LEASE_SECONDS * 1000) / 4,
  );
  try {
    return await new Run(context, feed, job, runId, work.signal, progress).run();
  } catch (error) {
    throw lost ? new LeaseLostError(feed.source.name, key) : error;
  } finally {
    clearInterval(heartbeat);
    work.end();
  }
}
