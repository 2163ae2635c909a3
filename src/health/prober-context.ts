import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Clock } from '../clock.ts';
import type { MaintenanceWindow } from './maintenance.ts';
import type { Observation } from './state.ts';

/** What one look at a node came to, and how long the whole answer took in ms; null: there was none. */
export interface Look extends Omit<Observation, 'at' | 'before'> {
  readonly latency: number | null;
}

/** A probe of a node, such as `health`, or `health:TAG` for a part of it. */
export interface ProbeTarget {
  readonly node: string;
  readonly probe: string;
}

/** What a prober works with. */
export interface ProberContext {
  readonly sql: postgres.Sql;
  readonly wall: Clock;
  /** Milliseconds that nobody sets, sleep included. */
  readonly steady: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly observer: string;
  /** This process among those that may watch for the observer. */
  readonly holder: string;
  /** Milliseconds between two looks at a probe. */
  readonly every: number;
  readonly targets: readonly ProbeTarget[];
  /** Looks once, on a connection of its own, within a deadline shorter than `every`. Rejects only when stopped. */
  look(target: ProbeTarget, signal: AbortSignal): Promise<Look>;
  /** The announced windows that touch [from, to], wall times in ms. */
  maintenance(from: number, to: number): Promise<readonly MaintenanceWindow[]>;
  /** Writes down what is watched, so that its freshness is known. */
  readonly register?: () => Promise<void>;
  /** 0 to 1: spreads confirmations. */
  readonly random?: () => number;
  /** Told how late each look began, ms. */
  readonly asked?: (late: number) => void;
}
