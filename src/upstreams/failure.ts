import type { RequestedPause } from './budget.ts';

/** Kinds of failed calls that the recorder handles differently. */
export type FailureKind =
  | 'dns'
  | 'unreachable'
  | 'local'
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

/** Consequences of a kind of failure. */
export interface FailureRule {
  /** Retry within the call (failures of seconds). */
  readonly retry: boolean;
  /** Retry the job later (failures of minutes). With neither, a retry would get the same answer. */
  readonly later: boolean;
  /** State of a node whose probe failed so: `down` only if the failure is the node's own. */
  readonly probe: 'down' | 'unknown';
  /** The network between the recorder and the upstream may be the cause. */
  readonly network: boolean;
}

const rule = (
  does: 'retry' | 'later' | 'give up',
  probe: FailureRule['probe'],
  cause: 'network' | 'upstream',
): FailureRule => ({
  retry: does === 'retry',
  later: does !== 'give up',
  probe,
  network: cause === 'network',
});

/** Consequences of each kind of failure, for runs, probes and `doctor` alike. */
export const failureTable: Readonly<Record<FailureKind, FailureRule>> = {
  dns: rule('retry', 'unknown', 'network'), // the resolver may answer again in a moment
  unreachable: rule('retry', 'down', 'network'), // no route, or a host that is off
  local: rule('retry', 'unknown', 'network'), // this machine: no interface, no free port, no file descriptor
  refused: rule('retry', 'down', 'upstream'), // a node restarts
  reset: rule('retry', 'down', 'upstream'), // the server closed the connection; every call here is safe to repeat
  tls: rule('later', 'unknown', 'upstream'), // a certificate is not repaired in seconds
  timeout: rule('retry', 'down', 'network'),
  'rate-limited': rule('retry', 'unknown', 'upstream'), // after Retry-After, for the whole upstream
  server: rule('retry', 'down', 'upstream'), // 5xx, also in HTML from the edge
  auth: rule('give up', 'unknown', 'upstream'), // 401, 403, 407 and 511 need a person
  'not-found': rule('later', 'unknown', 'upstream'), // fresh things are 404 while the indexer trails (reality.md 2.2)
  'bad-request': rule('give up', 'unknown', 'upstream'),
  redirect: rule('give up', 'unknown', 'upstream'), // never followed: a redirect would receive the key
  malformed: rule('retry', 'unknown', 'upstream'), // truncated or garbled on the way; refused as a whole
  'too-large': rule('give up', 'unknown', 'upstream'),
  rpc: rule('later', 'unknown', 'upstream'),
  'not-offered': rule('give up', 'unknown', 'upstream'), // the node does not serve this method
  identity: rule('later', 'unknown', 'upstream'), // another node, network or chain than the recorded one answers
  cancelled: rule('later', 'unknown', 'upstream'), // the recorder stops
};

/** A call without a usable answer. The message contains the status or the code, and no URL, query or key. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  /** Pause that the upstream requires before the next call, in ms. */
  readonly retryAfter: number | undefined;
  /** The header that named `retryAfter`, such as `retry-after: 30`. */
  readonly pauseHeader: string | undefined;
  /** Code of the socket, the resolver or the TLS handshake, such as `ECONNREFUSED`. */
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
