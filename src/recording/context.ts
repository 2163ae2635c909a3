import type postgres from 'postgres';
import type { Feed, UpstreamClient, Window } from '../datasets/contract.ts';
import type { Clock } from '../lib/clock.ts';
import type { RunInSpan } from '../lib/trace.ts';
import type { SessionOptions, Usage } from '../upstreams/upstream-session.ts';
import type { Outcome } from './commit.ts';
import type { Job } from './job.ts';

/** An upstream during one run. */
export interface RunClient extends UpstreamClient {
  readonly usage: Usage;
  /**
   * Verifies that all responses so far came from the source that the target names. Undefined: the source has
   * no identity.
   * @throws UpstreamFailure (identity) if another node or network responded
   */
  verifySource?(): Promise<void>;
  /**
   * Same as `verifySource`, at a lower rate, for health probes.
   * @throws AnotherNode with the id of the node that responded
   */
  verifySlowly?(): Promise<void>;
}

/** Opens an upstream for one run. */
export type OpenUpstream = (feed: Pick<Feed, 'source'>, job: Job, options: SessionOptions) => RunClient;

/** Dependencies of the recording that the application provides. */
export interface RecordingContext {
  readonly sql: postgres.Sql;
  /** Connections for the commits of runs. */
  readonly commits: postgres.Sql;
  readonly clock: Clock;
  /** Identifier of this process in the table of runs: host and process id. */
  readonly worker: string;
  readonly open: OpenUpstream;
  /** Undefined: no traces. */
  readonly traced?: RunInSpan;
}

/** Result of a run. */
export interface RunResult {
  readonly runId: number;
  readonly feed: string;
  readonly datasets: readonly string[];
  readonly target: string;
  readonly window: Window | null;
  readonly status: Outcome;
  readonly pages: number;
  readonly items: number;
  readonly rowsWritten: readonly number[];
  readonly quarantined: number;
  readonly requests: number;
  readonly units: number;
  readonly error: string | null;
  /** True if the failure may be temporary, so that a retry may succeed. */
  readonly later: boolean;
}
