import type { Answer } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import type { Service } from '../http/operation.ts';
import type { PageTokens } from '../http/page-tokens.ts';
import type { Delivery } from './delivery.ts';

/** Sizes and times of the faults that need them; times in real milliseconds. */
export interface FaultSizes {
  readonly lateMs: number;
  readonly dripMs: number;
  readonly hugeBytes: number;
  readonly bombBytes: number;
  readonly depth: number;
}

/** What a fault can look at: the request, its right answer, and how that would be delivered. */
export interface FaultContext {
  readonly call: Call;
  readonly service: Service;
  readonly operation: string;
  readonly answer: Answer;
  readonly delivery: Delivery;
  readonly tokens: PageTokens;
  readonly sizes: FaultSizes;
  /** Differs from fault to fault; the same in a run with the same requests. */
  readonly draw: number;
}

/** What becomes of the answer. */
export interface Spoilt {
  readonly delivery: Delivery;
  /** Which metric points can still be read from it: all, none, or all but those with these timestamps. */
  readonly readable: 'all' | 'none' | { readonly without: readonly number[] };
}
