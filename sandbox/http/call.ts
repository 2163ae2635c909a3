import type { WalkManner } from './walk-manner.ts';

/** A completely read request to the sandbox, and its simulated time. */
export interface Call {
  readonly method: string;
  /** The path, percent-decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly nowMs: number;
  /** Behaviour of the walk that starts with this request, if a fault changes the behaviour. */
  readonly walk?: WalkManner;
}

/** Returns the simulated time of a call in whole Unix seconds. */
export function nowSec(call: Call): number {
  return Math.floor(call.nowMs / 1000);
}
