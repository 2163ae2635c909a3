import type { RecorderQueue } from './backend.ts';
import { type ExportJob, exportJob } from './jobs.ts';
import type { Peers } from './worker-places.ts';

/** What workers do for exports by schedule. */
export interface ExportWork {
  /** Where exports go that are due. */
  due(): Promise<readonly string[]>;
  /** Does the export to a place, where it is still due and no other one is under way. What fails is noted, not thrown. */
  run(to: string, signal: AbortSignal): Promise<void>;
}

/**
 * Does a job of exports. A job that is lost is no loss: what is due stands in the database, and the next look finds it. The
 * exports of an older configuration are not made any more.
 * @param heals the queue of what must not delay polls: an export takes one of its places for as long as it lasts
 */
export async function workOnExports(
  work: ExportWork | undefined,
  heals: RecorderQueue,
  data: ExportJob,
  { peers, signal }: { readonly peers: Peers | undefined; readonly signal: AbortSignal },
): Promise<void> {
  if (!work || (peers && !peers.standing.newest && !(await peers.beat()).newest)) return;
  if (data.kind === 'export') return work.run(data.to, signal);
  for (const to of await work.due()) {
    const { name, data: one, opts } = exportJob(to);
    await heals.add(name, one, opts);
  }
}
