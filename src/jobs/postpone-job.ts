import type { ActiveJob } from './backend.ts';
import { DelayedError } from './bullmq.ts';

/**
 * Moves a job in progress back to the queue, behind the waiting jobs. The queue would reject a new job with
 * the same id while this job runs.
 * @param wait time until the job may run again, in ms
 * @throws DelayedError always: BullMQ's signal that the job has neither completed nor failed
 */
export async function postponeJob(job: ActiveJob, token: string | undefined, wait = 0): Promise<never> {
  await job.moveToDelayed(Date.now() + wait, token);
  throw new DelayedError();
}
