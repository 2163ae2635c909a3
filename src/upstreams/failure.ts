import type { RequestedPause } from './budget.ts';

/** What went wrong with a call, in the kinds that the recorder treats differently. */
export type FailureKind =
  | 'dns'
  | 'refused'
  | 'reset'
  | 'tls'
  | 'timeout'
  | 'rate-limited'
  | 'server'
  | 'auth'
  | 'not-found'
  | 'bad-request'
  | 'redirect'
  | 'malformed'
  | 'too-large'
  | 'rpc'
  | 'not-offered'
  | 'identity'
  | 'cancelled';

/**
 * What follows from each kind of failure: `retry` asks again within the call (faults of seconds), `later` lets the
 * job come back (faults of minutes); with neither, asking again would give the same answer.
 */
export const failureTable: Readonly<
  Record<FailureKind, { readonly retry: boolean; readonly later: boolean }>
> = {
  dns: { retry: true, later: true }, // the resolver may answer again in a moment
  refused: { retry: true, later: true }, // a node restarts
  reset: { retry: true, later: true }, // the server closed a kept-alive socket; every call here is safe to repeat
  tls: { retry: false, later: true }, // a certificate is not repaired in seconds
  timeout: { retry: true, later: true },
  'rate-limited': { retry: true, later: true }, // after Retry-After, for the whole upstream
  server: { retry: true, later: true }, // 5xx, also in HTML from the edge
  auth: { retry: false, later: false }, // 401 and 403 need a person
  'not-found': { retry: false, later: true }, // fresh things are 404 while the indexer trails (reality.md 2.2)
  'bad-request': { retry: false, later: false },
  redirect: { retry: false, later: false }, // never followed: it would carry the key along
  malformed: { retry: true, later: true }, // truncated or garbled on the way; refused whole
  'too-large': { retry: false, later: false },
  rpc: { retry: false, later: true },
  'not-offered': { retry: false, later: false }, // the node does not serve this method
  identity: { retry: false, later: true }, // another node, network or chain than the recorded one answers
  cancelled: { retry: false, later: true }, // we are stopping
};

/** A call that gave no usable answer. The message names no URL, no query and no key. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  /** Milliseconds that the upstream asked us to stay away. */
  readonly retryAfter: number | undefined;
  /** The header that named `retryAfter`, such as `retry-after: 30`. */
  readonly pauseHeader: string | undefined;
  /** What the socket or the TLS handshake failed with, such as `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    more: { status?: number; pause?: RequestedPause | undefined; retryAfter?: number; code?: string } = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = more.status;
    this.retryAfter = more.retryAfter ?? more.pause?.milliseconds;
    this.pauseHeader = more.pause?.header;
    this.code = more.code;
  }

  get retry(): boolean {
    return failureTable[this.kind].retry;
  }

  get later(): boolean {
    return failureTable[this.kind].later;
  }
}

/** A text without the URLs in it, which may hold secrets. */
export const withoutUrls = (text: string): string => text.replaceAll(/(?<!\S)\S*:\/\/\S*/g, '…');

/** An upstream's message in a form for errors: without URLs and queries, at most 200 characters. */
export function wordsOf(text: string): string {
  return withoutUrls(text).replaceAll(/\?\S+/g, '?…').slice(0, 200);
}
