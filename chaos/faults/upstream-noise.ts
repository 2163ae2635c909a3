import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import type { World } from '../world.ts';

/** Usual faults of an upstream; none of them changes an item. */
const NOISE: Partial<Record<FaultKind, number>> = {
  '500': 0.011,
  '502-html': 0.011,
  '503': 0.011,
  reset: 0.012,
  garbage: 0.011,
  html: 0.008,
  'bad-utf8': 0.008,
  'truncated-length': 0.01,
  'truncated-chunked': 0.01,
  'truncated-close': 0.01,
  'empty-body': 0.008,
  'wrong-content-type': 0.008,
  'empty-page': 0.006,
  'duplicate-items': 0.006,
  'token-dead': 0.003,
  '429-past': 0.002,
};

/** Lets the sandbox respond to about one call in eight with a fault. */
export function upstreamNoise({ sandbox }: World): void {
  sandbox.faults.rate(NOISE);
}

/** The share of calls with a fault in their response. */
export function faultShare({ sandbox }: World): number {
  const calls = Object.values(sandbox.ledger.totals()).reduce((sum, total) => sum + total.calls, 0);
  const faults = Object.values(sandbox.ledger.faults()).reduce((sum, times) => sum + times, 0);
  return calls === 0 ? 0 : faults / calls;
}
