/** Responses with a status other than the correct status (FAULTS.md 27-30). */
export const STATUS_KINDS = [
  '429',
  '429-seconds',
  '429-date',
  '429-past',
  '429-huge',
  '429-garbage',
  '400',
  '401',
  '403',
  '404',
  '500',
  '502',
  '502-html',
  '503',
  '504-html',
  'redirect',
] as const;

/** Completely invalid bodies (31-35). */
export const BODY_KINDS = [
  'garbage',
  'html',
  'wrong-content-type',
  'bom',
  'bad-utf8',
  'deep-nesting',
  'empty-body',
  'truncated-length',
  'truncated-chunked',
  'truncated-close',
  'gzip-bomb',
  'huge-body',
] as const;

/** Faults of connections (35, 36). */
export const CONNECTION_KINDS = ['reset', 'slow-headers', 'slow-body', 'stall'] as const;

/** Pages in an incorrect order (20-26). */
export const PAGE_KINDS = [
  'token-dead',
  'token-repeated',
  'token-circular',
  'empty-page',
  'duplicate-items',
  'missing-item',
] as const;

/** Walks that start with a request and have an unusual order, page size or token lifetime from there on (62, 63). */
export const WALK_KINDS = [
  'list-reversed',
  'page-of-one',
  'reversed-one-dead',
  'token-of-place',
  'token-dies-seventh',
  'place-token-dies-seventh',
] as const;

/** Lists that lost members, or contradict their count (60, 61). */
export const LIST_KINDS = ['list-emptied', 'list-halved', 'list-null', 'total-mismatch'] as const;

/** One invalid item of a response (37-43). */
export const ITEM_KINDS = [
  'null-item',
  'null-field',
  'missing-field',
  'nan-string',
  'negative',
  'huge-integer',
  'huge-exponent',
  'minus-zero',
  'long-digits',
  'long-string',
  'unknown-enum',
  'extra-field',
  'nul-character',
  'lone-surrogate',
  'proto-key',
  'other-hash',
] as const;

/** JSON-RPC responses and health reports that contradict themselves (44). */
const RPC_KINDS = ['rpc-error', 'rpc-wrong-id', 'rpc-empty', 'health-lie'] as const;

export const FAULT_KINDS = [
  ...STATUS_KINDS,
  ...BODY_KINDS,
  ...CONNECTION_KINDS,
  ...PAGE_KINDS,
  ...WALK_KINDS,
  ...LIST_KINDS,
  ...ITEM_KINDS,
  ...RPC_KINDS,
] as const;

export type StatusKind = (typeof STATUS_KINDS)[number];
export type BodyKind = (typeof BODY_KINDS)[number];
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];
export type PageKind = (typeof PAGE_KINDS)[number];
export type WalkKind = (typeof WALK_KINDS)[number];
export type ListKind = (typeof LIST_KINDS)[number];
export type ItemKind = (typeof ITEM_KINDS)[number];
export type RpcKind = (typeof RPC_KINDS)[number];
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Returns the kind of fault with a name. Returns undefined if there is no such kind. */
export function faultKind(name: string): FaultKind | undefined {
  return FAULT_KINDS.find((kind) => kind === name);
}

/** Returns whether a list of kinds contains a kind. */
export function isOneOf<T extends string>(kinds: readonly T[], kind: string): kind is T {
  return kinds.some((one) => one === kind);
}
