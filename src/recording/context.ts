import type postgres from 'postgres';
import type { Ask, Feed, Window } from '../datasets/contract.ts';
import type { Clock } from '../lib/clock.ts';
import type { Traced } from '../lib/trace.ts';
import type { Asking, Usage } from '../upstreams/upstream.ts';
import type { Outcome } from './commit.ts';
import type { Job } from './job.ts';

/** An upstream as one run asks it. */
export interface Asked extends Ask {
  readonly usage: Usage;
  /**
   * Verifies that all answers so far came from the source whose name the target has. Absent: the source has no identity.
   * @throws UpstreamFailure (identity) when another node or network answered
   */
  verifySource?(): Promise<void>;
  /** As `verifySource`, at a slow rate: for health probes. @throws AnotherNode with the id of the node that answered */
  verifySlowly?(): Promise<void>;
}

/** Opens an upstream for one run. */
export type OpenUpstream = (feed: Pick<Feed, 'source'>, job: Job, asking: Asking) => Asked;

/** What recording needs from the application. */
export interface RecordingContext {
  readonly sql: postgres.Sql;
  /** For the commits of runs. */
  readonly commits: postgres.Sql;
  readonly clock: Clock;
  /** This process, in runs: host and process id. */
  readonly worker: string;
  readonly open: OpenUpstream;
  /** Absent: nothing is noted in traces. */
  readonly traced?: Traced;
}

/** How a run went. */
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
  /** The failure may be temporary: a later try may succeed. */
  readonly later: boolean;
}
