import type { RecorderQueue, WorkedJob } from './backend.ts';
import { type AlertJob, deliverJob } from './jobs.ts';
import { postponed } from './postpone-job.ts';
import type { Peers } from './worker-places.ts';

/** What workers do for alerts. */
export interface AlertWork {
  /** Asks the rules once. @returns the channels that may have something to send */
  round(signal: AbortSignal): Promise<readonly string[]>;
  /** Sends what waits for a channel. @returns whether more waits */
  deliver(channel: string, signal: AbortSignal): Promise<boolean>;
}

/**
 * Does a job of alerts. A job that is lost is no loss: what is to be told stands in the database, and the next round looks for
 * it. The rules of an older configuration are not asked any more.
 */
export async function workOnAlerts(
  work: AlertWork | undefined,
  polls: RecorderQueue,
  data: AlertJob,
  {
    job,
    token,
    peers,
    signal,
  }: {
    readonly job: WorkedJob;
    readonly token: string | undefined;
    readonly peers: Peers | undefined;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (!work || (peers && !peers.standing.newest && !(await peers.beat()).newest)) return;
  if (data.kind === 'deliver') {
    const more = await work.deliver(data.channel, signal);
    return more && !signal.aborted ? postponed(job, token) : undefined;
  }
  for (const channel of await work.round(signal)) {
    const { name, data: delivery, opts } = deliverJob(channel);
    await polls.add(name, delivery, opts);
  }
}
