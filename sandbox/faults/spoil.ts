import { spoilBody } from './bodies.ts';
import { spoilConnection } from './connections.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { spoilItem } from './items.ts';
import {
  BODY_KINDS,
  CONNECTION_KINDS,
  type FaultKind,
  ITEM_KINDS,
  isOneOf,
  LIST_KINDS,
  PAGE_KINDS,
  STATUS_KINDS,
  WALK_KINDS,
} from './kinds.ts';
import { spoilList } from './lists.ts';
import { spoilPage } from './pages.ts';
import { spoilRpc } from './rpc.ts';
import { spoilStatus } from './statuses.ts';
import { spoilWalk } from './walks.ts';

/**
 * Applies one kind of fault to a response. Returns undefined if the fault cannot be applied to this response.
 */
export function spoil(kind: FaultKind, context: FaultContext): FaultEffect | undefined {
  if (isOneOf(STATUS_KINDS, kind)) return spoilStatus(kind, context);
  if (isOneOf(BODY_KINDS, kind)) return spoilBody(kind, context);
  if (isOneOf(CONNECTION_KINDS, kind)) return spoilConnection(kind, context);
  if (isOneOf(PAGE_KINDS, kind)) return spoilPage(kind, context);
  if (isOneOf(WALK_KINDS, kind)) return spoilWalk(kind, context);
  if (isOneOf(LIST_KINDS, kind)) return spoilList(kind, context);
  if (isOneOf(ITEM_KINDS, kind)) return spoilItem(kind, context);
  return spoilRpc(kind, context);
}
