import { problem } from '../http/answer.ts';
import { isObject, type Json, writeJson } from '../json.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { type Delivery, WHOLE } from './delivery.ts';
import { documentOf, listOf, replaceMember, withDocument } from './documents.ts';
import type { PageKind } from './kinds.ts';

function expiredToken(context: FaultContext): Delivery | undefined {
  if (!context.call.query.has('pageToken')) return undefined;
  const body = Buffer.from(writeJson(problem(400, 'Invalid or expired page token').document ?? {}));
  return { status: 400, headers: context.delivery.headers, body, manner: WHOLE };
}

function times(items: readonly Json[]): number[] {
  return items.flatMap((item) =>
    isObject(item) && typeof item.timestamp === 'number' ? [item.timestamp] : [],
  );
}

/**
 * Returns a response that breaks the sequence of pages. Returns undefined for a response that is not a page,
 * or has no next page.
 */
export function spoilPage(kind: PageKind, context: FaultContext): FaultEffect | undefined {
  if (kind === 'token-dead') {
    const delivery = expiredToken(context);
    return delivery === undefined ? undefined : { delivery, readable: 'none' };
  }
  const document = documentOf(context);
  if (document === undefined) return undefined;
  const token = document.nextPageToken;
  if (kind === 'token-repeated' || kind === 'token-circular') {
    if (typeof token !== 'string' || !context.tokens.loop(token, kind === 'token-repeated' ? 1 : 2))
      return undefined;
    return { delivery: context.delivery, readable: 'all' };
  }
  const list = listOf(document);
  if (list === undefined) return undefined;
  if (kind === 'empty-page') {
    // The items are delayed, not lost. The token leads to the page that should have been returned now.
    const token = context.call.query.get('pageToken') ?? '';
    const again = context.tokens.copy(token, context.call.nowMs);
    if (again === undefined) return undefined;
    const empty = { ...replaceMember(document, list.path, []), nextPageToken: again };
    return { delivery: withDocument(context, empty), readable: 'none' };
  }
  const at = context.draw % list.items.length;
  if (kind === 'missing-item') {
    const items = list.items.filter((_, i) => i !== at);
    return {
      delivery: withDocument(context, replaceMember(document, list.path, items)),
      readable: { without: times(list.items.slice(at, at + 1)) },
    };
  }
  const items = list.items.flatMap((item, i) => (i === at || i === 0 ? [item, item] : [item]));
  return { delivery: withDocument(context, replaceMember(document, list.path, items)), readable: 'all' };
}
