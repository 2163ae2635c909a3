import type { RecorderQueue } from './backend.ts';
import type { RecorderPeers } from './job-assignment.ts';
import { type ExportJob, exportJob } from './jobs.ts';

/** Export tasks of the workers. */
export interface ExportTasks {
  /** Returns the destinations of exports that are due. */
  due(): Promise<readonly string[]>;
  /**
   * Runs the export to a destination if it is still due and no other export is in progress. Errors are
   * stored, not thrown.
   */
  run(to: string, signal: AbortSignal): Promise<void>;
}

/**
 * Processes an export job. A lost job has no lasting effect, because the next check finds the due exports in
 * the database. A process with an older configuration exports nothing.
 * @param heals the queue for jobs that must not delay polls. An export occupies one worker of this queue
 * until the export ends
 */
export async function processExportJob(
  work: ExportTasks | undefined,
  heals: RecorderQueue,
  data: ExportJob,
  { peers, signal }: { readonly peers: RecorderPeers | undefined; readonly signal: AbortSignal },
): Promise<void> {
  if (!work || (peers && !peers.position.newest && !(await peers.beat()).newest)) return;
  if (data.kind === 'export') return work.run(data.to, signal);
  for (const to of await work.due()) {
    const { name, data: one, opts } = exportJob(to);
    await heals.add(name, one, opts);
  }
}
