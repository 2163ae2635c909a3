import type { Answer, MetricPoints } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import type { Service } from '../http/operation.ts';
import type { PageTokens } from '../http/page-tokens.ts';
import type { WalkManner } from '../http/walk-manner.ts';
import type { Delivery } from './delivery.ts';

/** Sizes and times of the faults that need them; times in real milliseconds. */
export interface FaultSizes {
  readonly lateMs: number;
  readonly dripMs: number;
  readonly hugeBytes: number;
  readonly bombBytes: number;
  readonly depth: number;
}

/** Context of a fault: the request, its correct response, and its delivery. */
export interface FaultContext {
  readonly call: Call;
  readonly service: Service;
  readonly operation: string;
  readonly answer: Answer;
  readonly delivery: Delivery;
  readonly tokens: PageTokens;
  /** Responds to the same call like the first of a walk with another behaviour. */
  again(walk: WalkManner): Answer;
  readonly sizes: FaultSizes;
  /** Random number of the fault, which is equal in runs with the same requests. */
  readonly draw: number;
}

/** Effect on the response. */
export interface FaultEffect {
  readonly delivery: Delivery;
  /** The metric points in the response, if they differ from those of the correct response. */
  readonly metric?: MetricPoints | undefined;
  /**
   * The metric points in the response that a client can still read: all, none, or all except those with these
   * timestamps.
   */
  readonly readable: 'all' | 'none' | { readonly without: readonly number[] };
}
