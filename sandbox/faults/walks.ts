import { delivery } from '../http/listener.ts';
import type { WalkManner } from '../http/walk-manner.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { documentOf } from './documents.ts';
import type { WalkKind } from './kinds.ts';

const MANNERS: Readonly<Record<WalkKind, WalkManner>> = {
  'list-reversed': { reversed: true },
  'page-of-one': { pageSize: 1 },
  'reversed-one-dead': { reversed: true, pageSize: 1, pages: 2 },
  'token-of-place': { tokensOfPlace: true },
  'token-dies-seventh': { pages: 7 },
  'place-token-dies-seventh': { pages: 7, tokensOfPlace: true },
};

/**
 * Returns the first page of a walk that has another behaviour on all its pages. Returns undefined for other
 * pages, or if the walk is too short for a difference.
 */
export function spoilWalk(kind: WalkKind, context: FaultContext): FaultEffect | undefined {
  if (context.call.query.get('pageToken') || context.answer.status >= 300) return undefined;
  const answer = context.again(MANNERS[kind]);
  const other = delivery(answer);
  const hasNextPage = documentOf({ ...context, answer })?.nextPageToken !== undefined;
  if (!hasNextPage && other.body.equals(context.delivery.body)) return undefined;
  return { delivery: other, metric: answer.metric, readable: 'all' };
}
