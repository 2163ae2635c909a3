import type { FaultContext, FaultEffect } from './context.ts';
import type { Manner } from './delivery.ts';
import type { ConnectionKind } from './kinds.ts';

function manner(kind: ConnectionKind, context: FaultContext): Manner {
  if (kind === 'slow-headers') return { kind: 'late', afterMs: context.sizes.lateMs };
  if (kind === 'slow-body') return { kind: 'drip', everyMs: context.sizes.dripMs };
  return { kind };
}

/** Returns the correct response on a connection that is reset, stalled or slow. */
export function spoilConnection(kind: ConnectionKind, context: FaultContext): FaultEffect {
  const slow = kind === 'slow-headers' || kind === 'slow-body';
  return {
    delivery: { ...context.delivery, manner: manner(kind, context) },
    readable: slow ? 'all' : 'none',
  };
}
