import type { ActiveJob, RecorderQueue } from './backend.ts';
import type { RecorderPeers } from './job-assignment.ts';
import { type AlertJob, deliverJob } from './jobs.ts';
import { postponeJob } from './postpone-job.ts';

/** Alert tasks of the workers. */
export interface AlertTasks {
  /**
   * Evaluates all rules once.
   * @returns the channels that may have pending messages
   */
  round(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Sends the pending messages of a channel.
   * @returns whether more messages are pending
   */
  deliver(channel: string, signal: AbortSignal): Promise<boolean>;
}

/**
 * Processes an alert job. A lost job has no lasting effect, because the next round finds the pending messages
 * in the database. A process with an older configuration evaluates no rules.
 */
export async function processAlertJob(
  work: AlertTasks | undefined,
  polls: RecorderQueue,
  data: AlertJob,
  {
    job,
    token,
    peers,
    signal,
  }: {
    readonly job: ActiveJob;
    readonly token: string | undefined;
    readonly peers: RecorderPeers | undefined;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (!work || (peers && !peers.position.newest && !(await peers.beat()).newest)) return;
  if (data.kind === 'deliver') {
    const more = await work.deliver(data.channel, signal);
    return more && !signal.aborted ? postponeJob(job, token) : undefined;
  }
  for (const channel of await work.round(signal)) {
    const { name, data: delivery, opts } = deliverJob(channel);
    await polls.add(name, delivery, opts);
  }
}
