import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import type { BudgetKey } from '../db/budget-key.ts';
import type { ReadGate } from '../db/read-gate.ts';
import type { Replica } from '../db/replica.ts';
import type { QueuesView } from '../jobs/queue-content.ts';
import type { Clock } from '../lib/clock.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import type { RewardThresholds } from '../reporting/reports/rewards.ts';
import type { Access } from './access.ts';
import type { ConnectionLimits } from './connections.ts';
import type { ProcessCounts } from './metrics/process-counts.ts';
import type { RecorderFacts } from './pages/page.ts';
import type { StatusSite } from './status-site.ts';

export interface ServerContext {
  /** Database client for health and metrics. Requests never use the connections of the recording. */
  readonly sql: postgres.Sql;
  /** Limits the reads of the pages and the API. */
  readonly gate: ReadGate;
  /** Replica that the gate reads. Default: null, the gate reads the database itself. */
  readonly replica?: Replica | null;
  readonly clock: Clock;
  readonly access: Access;
  readonly log: Pick<Log, 'warn'>;
  /** Rejects if the queue cannot be reached. */
  readonly queueReachable: () => Promise<unknown>;
  readonly queues: QueuesView;
  /** Host names of the server, in addition to localhost and the address at which a request arrives. */
  readonly allowedHosts: readonly string[];
  readonly budgets: readonly BudgetKey[];
  readonly recorder: RecorderFacts;
  readonly watched: readonly ConfiguredFeed[];
  readonly upstreams: Config['upstreams'];
  /** Counters of this process, for `/metrics`. */
  readonly counts: ProcessCounts;
  /** Minimum uptimes for a reward. */
  readonly rewards: RewardThresholds;
  readonly site: StatusSite;
  /**
   * Returns whether this process records at this moment, so that requests get only a small share of the
   * process time; null if the process never records.
   */
  readonly recording: (() => boolean) | null;
  /** Timeout of a connection without data, in ms. Default: 120 000. */
  readonly stallTimeoutMs?: number;
  readonly connections?: ConnectionLimits;
  /** Called each time the limit of connections is reached. */
  readonly connectionLimitReached?: () => void;
}
