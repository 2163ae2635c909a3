import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';
import type { MaintenanceWindow } from './maintenance.ts';
import type { Observation } from './state.ts';

/**
 * Result of one query of a node, and the time until the complete response in ms. Null: there was no health
 * report.
 */
export interface ProbeQueryResult extends Omit<Observation, 'at' | 'before'> {
  readonly latency: number | null;
  /**
   * Result for the node that responded, if it is not the configured one. Undefined: no other node is known.
   */
  readonly other?: OtherNodeResult;
}

/** Result of a query whose response came from another node than the bound one. */
export interface OtherNodeResult {
  readonly nodeId: string;
  readonly result: Omit<ProbeQueryResult, 'other'>;
}

/** A probe of a node, such as `health`, or `health:TAG` for the checks with a tag. */
export interface ProbeTarget {
  readonly node: string;
  readonly probe: string;
}

/** Dependencies of a prober. */
export interface ProberContext {
  readonly sql: postgres.Sql;
  /** Time of the ledger, in ms since 1970: the clock of the database. */
  readonly wall: Clock;
  /** Measures the clock of the database for `wall`. Default: `wall` needs no measurement. */
  readonly synchronise?: () => Promise<void>;
  /** A monotonic clock that includes sleep, in ms. */
  readonly steady: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly observer: string;
  /** Name of this process, unique among the processes of the observer. */
  readonly holder: string;
  /** Interval between two queries of a probe, in ms. */
  readonly every: number;
  readonly targets: readonly ProbeTarget[];
  /** Queries once, on a new connection, with a timeout shorter than `every`. Rejects only if aborted. */
  query(target: ProbeTarget, signal: AbortSignal): Promise<ProbeQueryResult>;
  /** Returns the announced windows that overlap [from, to], in wall times in ms. */
  maintenance(from: number, to: number): Promise<readonly MaintenanceWindow[]>;
  /** Returns a random number from 0 to 1, to spread confirmations. */
  readonly random?: () => number;
  /** Called at the start of each query with its delay, in ms. */
  readonly queryStarted?: (late: number) => void;
}
