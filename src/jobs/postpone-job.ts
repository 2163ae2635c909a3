import type { WorkedJob } from './backend.ts';
import { DelayedError } from './bullmq.ts';

/**
 * Puts a job that is at work back, behind the waiting jobs. A new job with its id would be refused while it runs.
 * @param wait ms until it may be taken again
 * @throws DelayedError always: by it the worker knows that the job is neither done nor failed
 */
export async function postponed(job: WorkedJob, token: string | undefined, wait = 0): Promise<never> {
  await job.moveToDelayed(Date.now() + wait, token);
  throw new DelayedError();
}
