import type postgres from 'postgres';
import type { Config } from '../../config/schema.ts';
import type { BudgetKey } from '../../db/budget-key.ts';
import type { DiskUse } from '../../reports/disk.ts';
import type { Status } from '../../reports/status.ts';
import type { Family, Sample } from './family.ts';
import type { ProcessCounts } from './process-counts.ts';

/** What metrics are read from. */
export interface MetricSources {
  readonly sql: postgres.Sql;
  /** How the recording stands. */
  readonly status: () => Promise<Status>;
  /** How much space is taken. */
  readonly disk: () => Promise<DiskUse>;
  /** The allowances that are shown, and what the configuration says of them. */
  readonly budgets: readonly BudgetKey[];
  readonly upstreams: Config['upstreams'];
  /** What this process did. */
  readonly counts: ProcessCounts;
}

/**
 * Metrics that are read together. One that cannot be read costs no other one. Each read costs as much as there is now to
 * tell of (targets, nodes, checks), however long is recorded.
 */
export interface MetricPart {
  /** Its value of the label `part`. */
  readonly name: string;
  /** What it tells, and where it comes from: a sentence or two of Markdown. */
  readonly about: string;
  readonly families: readonly Family[];
  /** How long what was read is given again, ms; absent: a second. */
  readonly lasting?: number;
  /**
   * Makes the reader, once a server, so that it can keep what it needs the next time.
   * @returns what reads; it rejects when that is not possible
   */
  reader(sources: MetricSources): () => Promise<readonly Sample[]>;
}
