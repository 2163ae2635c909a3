import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';
import type { MaintenanceWindow } from './maintenance.ts';
import type { Observation } from './state.ts';

/** The result of one look at a node, and how long the whole answer took in ms; null: there was no answer. */
export interface Look extends Omit<Observation, 'at' | 'before'> {
  readonly latency: number | null;
  /** What the answer says of the node that sent it, if that is not the configured one; absent: no other node is known. */
  readonly other?: OtherNodeLook;
}

/** A look whose answer came from another node than the one that the configured name is bound to. */
export interface OtherNodeLook {
  readonly nodeId: string;
  readonly look: Omit<Look, 'other'>;
}

/** A probe of a node, such as `health`, or `health:TAG` for a part of it. */
export interface ProbeTarget {
  readonly node: string;
  readonly probe: string;
}

/** What a prober needs. */
export interface ProberContext {
  readonly sql: postgres.Sql;
  /** The time of the ledger, in ms since 1970: the database's clock. */
  readonly wall: Clock;
  /** Measures the database's clock for `wall`. Default: `wall` needs no measurement. */
  readonly synchronise?: () => Promise<void>;
  /** A clock that cannot be set and that counts sleep, ms. */
  readonly steady: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly observer: string;
  /** The name of this process, different from that of every other process of the observer. */
  readonly holder: string;
  /** Milliseconds between two looks at a probe. */
  readonly every: number;
  readonly targets: readonly ProbeTarget[];
  /** Looks once, on a connection of its own, within a deadline shorter than `every`. Rejects only when stopped. */
  look(target: ProbeTarget, signal: AbortSignal): Promise<Look>;
  /** The announced windows that touch [from, to], wall times in ms. */
  maintenance(from: number, to: number): Promise<readonly MaintenanceWindow[]>;
  /** A random number from 0 to 1, to spread confirmations. */
  readonly random?: () => number;
  /** Called with how late each look began, ms. */
  readonly asked?: (late: number) => void;
}
