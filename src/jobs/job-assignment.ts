import { and, eq } from 'drizzle-orm';
import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import { ormOf } from '../db/orm.ts';
import { targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed } from '../recording/active-feed.ts';
import type { ProcessPosition } from '../recording/process-registration.ts';
import { targetKey } from '../recording/target-key.ts';
import type { FeedJob } from './jobs.ts';

/** Registration of this process in its recorder. */
export interface RecorderPeers {
  readonly recorder: string;
  readonly position: ProcessPosition;
  /** Updates the position of this process. */
  beat(): Promise<ProcessPosition>;
}

/** Assignment of a job: to this process, to another process with a newer configuration, or to no process. */
export type JobAssignment = 'here' | 'elsewhere' | 'nowhere';

/**
 * Returns the assignment of a job. A process does the jobs of its configuration. While a newer configuration
 * is active, a process with an older configuration does only jobs that both configurations contain, and plans
 * nothing if another process can plan.
 * @param known true if the configuration of this process contains the subject of the job
 */
export async function assignJob(
  sql: postgres.Sql,
  peers: RecorderPeers | undefined,
  known: boolean,
  data: FeedJob,
): Promise<JobAssignment> {
  if (!peers) return known ? 'here' : 'nowhere';
  if (known && peers.position.newest) return 'here';
  const { newest, relieved } = await peers.beat();
  if (newest) return known ? 'here' : 'nowhere';
  if (!(await isConfigured(sql, peers.recorder, data))) return 'nowhere';
  return known && !(data.kind === 'plan' && relieved) ? 'here' : 'elsewhere';
}

/** Returns a function that checks whether feeds contain the subject of a job. */
export function createSubjectCheck(feeds: readonly ActiveFeed[]): (data: FeedJob) => boolean {
  const known = new Map(
    feeds.map(({ source, datasets, targets }) => [
      source.name,
      { datasets: new Set(datasets.map(({ name }) => name)), targets: new Set(targets.map(targetKey)) },
    ]),
  );
  return (data) => {
    const feed = known.get(data.feed);
    if (!feed || data.kind === 'plan') return feed !== undefined;
    return (
      feed.targets.has(targetKey(data.target)) &&
      (data.datasets ?? []).every((name) => feed.datasets.has(name))
    );
  };
}

/** Returns whether the newest configuration contains the subject of a job. */
async function isConfigured(sql: postgres.Sql, recorder: string, data: FeedJob): Promise<boolean> {
  const keys = await queryActiveTargetKeys(sql, recorder, data.feed);
  return data.kind === 'plan' ? keys.size > 0 : keys.has(targetKey(data.target));
}

/** Returns the keys of the targets of a source in the newest configuration. */
export async function queryActiveTargetKeys(
  sql: postgres.Sql,
  recorder: string,
  source: string,
): Promise<ReadonlySet<string>> {
  const rows = await ormOf(sql)
    .selectDistinct({ target_key: targetDatasets.target_key })
    .from(targetDatasets)
    .innerJoin(
      targets,
      and(eq(targets.source, targetDatasets.source), eq(targets.target_key, targetDatasets.target_key)),
    )
    .where(and(eq(targetDatasets.source, source), targetDatasets.active, eq(targets.recorder, recorder)));
  return new Set(rows.map(({ target_key }) => target_key));
}

const LOG_INTERVAL_MS = 60_000;
const MAX_REMEMBERED_JOBS = 1_000;

/**
 * Logger of the jobs that this process skipped. Logs at most once a minute per feed, kind of job and
 * assignment.
 */
export class SkippedJobLog {
  readonly #log: Log;
  readonly #loggedAt = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  logSkipped(place: Exclude<JobAssignment, 'here'>, data: FeedJob): void {
    const what = `${place} ${data.feed} ${data.kind}`;
    const now = performance.now();
    if (now - (this.#loggedAt.get(what) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    if (this.#loggedAt.size > MAX_REMEMBERED_JOBS) this.#loggedAt.clear();
    this.#loggedAt.set(what, now);
    const fields = { feed: data.feed, ...(data.kind === 'record' ? { target: targetKey(data.target) } : {}) };
    if (place === 'nowhere') this.#log.info(fields, 'a job was dropped: its target is no longer configured');
    else this.#log.warn(fields, 'a job was left to a process with the newer configuration');
  }
}
