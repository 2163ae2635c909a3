import { isObject, type Json, type JsonObject } from '../json.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { documentOf, type List, replaceMember, withDocument } from './documents.ts';
import type { ListKind } from './kinds.ts';

/** Names of members that contain the length of the adjacent list. */
const COUNTS = ['numPeers', 'numFetched'];
const TOTAL = 700;
const TEN = 10;

/** Returns the lists of a response: its own members and those of its result and its balances. */
function listsOf(document: JsonObject, path: readonly string[] = []): List[] {
  return Object.entries(document).flatMap(([name, member]): List[] => {
    if (Array.isArray(member)) return member.length > 0 ? [{ path: [...path, name], items: member }] : [];
    const holdsLists = name === 'result' || name === 'balances';
    return holdsLists && isObject(member) ? listsOf(member, [...path, name]) : [];
  });
}

function truncateList(kind: ListKind, items: readonly Json[]): readonly Json[] {
  if (kind === 'list-emptied' || kind === 'list-null') return [];
  return items.slice(0, kind === 'list-halved' ? Math.floor((items.length - 1) / 2) : TEN);
}

function timestamps(items: readonly Json[]): number[] {
  return items.flatMap((item) =>
    isObject(item) && typeof item.timestamp === 'number' ? [item.timestamp] : [],
  );
}

/** Returns a document in which the counts of a list match a number of items. */
function setCounts(document: JsonObject, { path }: List, length: number): JsonObject {
  const beside = path.slice(0, -1);
  const parent = beside.reduce<Json | undefined>(
    (at, name) => (isObject(at) ? at[name] : undefined),
    document,
  );
  const names = isObject(parent) ? COUNTS.filter((name) => parent[name] !== undefined) : [];
  return names.reduce((changed, name) => replaceMember(changed, [...beside, name], String(length)), document);
}

/**
 * Returns a response whose lists are empty, halved or null, or truncated with a different count. There is no
 * next page. Returns undefined for a response without lists, and for a page that is not the first.
 */
export function spoilList(kind: ListKind, context: FaultContext): FaultEffect | undefined {
  const document = documentOf(context);
  if (document === undefined || context.call.query.get('pageToken')) return undefined;
  const lists = listsOf(document);
  const [first] = lists;
  if (first === undefined) return undefined;
  const short = lists.reduce((changed, list) => {
    const items = truncateList(kind, list.items);
    const cut = replaceMember(changed, list.path, kind === 'list-null' ? null : items);
    return kind === 'list-emptied' || kind === 'list-halved' ? setCounts(cut, list, items.length) : cut;
  }, document);
  const changed =
    kind === 'total-mismatch' ? replaceMember(short, [...first.path.slice(0, -1), 'total'], TOTAL) : short;
  const lost = lists.flatMap(({ items }) => items.slice(truncateList(kind, items).length));
  return {
    delivery: withDocument(context, { ...changed, nextPageToken: undefined }),
    readable: { without: timestamps(lost) },
  };
}
