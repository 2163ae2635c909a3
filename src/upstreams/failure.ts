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
  | 'unsupported'
  | 'identity'
  | 'cancelled';

/** Consequences of a kind of failure. */
export interface FailureRule {
  /** True if the call is retried immediately, because such failures may end within seconds. */
  readonly retry: boolean;
  /**
   * True if the job is retried later, because such failures may end within minutes. If false, a retry would
   * get the same response.
   */
  readonly later: boolean;
  /** State of a node whose probe failed with this kind. `down` only if the node itself is the cause. */
  readonly probe: 'down' | 'unknown';
  /** True if the network between the recorder and the upstream may be the cause. */
  readonly network: boolean;
}

const createRule = (
  does: 'retry' | 'later' | 'give up',
  probe: FailureRule['probe'],
  cause: 'network' | 'upstream',
): FailureRule => ({
  retry: does === 'retry',
  later: does !== 'give up',
  probe,
  network: cause === 'network',
});

/** Consequences of each kind of failure, for runs, probes and `doctor`. */
export const failureTable: Readonly<Record<FailureKind, FailureRule>> = {
  dns: createRule('retry', 'unknown', 'network'), // the resolver may recover within seconds
  unreachable: createRule('retry', 'down', 'network'), // no route, or the host is off
  local: createRule('retry', 'unknown', 'network'), // this machine: no interface, no free port, no file descriptor
  refused: createRule('retry', 'down', 'upstream'), // a node restarts
  // the server closed the connection; every call here is safe to repeat
  reset: createRule('retry', 'down', 'upstream'),
  tls: createRule('later', 'unknown', 'upstream'), // a certificate is not fixed within seconds
  timeout: createRule('retry', 'down', 'network'),
  'rate-limited': createRule('retry', 'unknown', 'upstream'), // after Retry-After, for the whole upstream
  server: createRule('retry', 'down', 'upstream'), // 5xx, also in HTML from the edge
  auth: createRule('give up', 'unknown', 'upstream'), // 401, 403, 407 and 511 require a change of the configuration
  // new entities are 404 while the indexer lags (upstream-services.md#values)
  'not-found': createRule('later', 'unknown', 'upstream'),
  'bad-request': createRule('give up', 'unknown', 'upstream'),
  // never followed, because the API key would be sent to the target
  redirect: createRule('give up', 'unknown', 'upstream'),
  malformed: createRule('retry', 'unknown', 'upstream'), // truncated or corrupted in transit; rejected as a whole
  'too-large': createRule('give up', 'unknown', 'upstream'),
  rpc: createRule('later', 'unknown', 'upstream'),
  unsupported: createRule('give up', 'unknown', 'upstream'), // the node does not serve this method
  // another node, network or chain responds than the recorded one
  identity: createRule('later', 'unknown', 'upstream'),
  cancelled: createRule('later', 'unknown', 'upstream'), // the recorder stops
};

/**
 * A call without a usable response. The message contains the status or the code, but no URL, query or key.
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  /** Pause that the upstream requires before the next call, in ms. */
  readonly retryAfter: number | undefined;
  /** Header that contained the pause, such as `retry-after: 30`. */
  readonly pauseHeader: string | undefined;
  /** Error code of the socket, the resolver or the TLS handshake, such as `ECONNREFUSED`. */
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

/** Returns a text with its URLs removed, because they may contain secrets. */
export const redactUrls = (text: string): string => text.replaceAll(/(?<!\S)\S*:\/\/\S*/g, '…');

/**
 * Returns the message of an upstream for use in errors: without URLs and queries, truncated to 200
 * characters.
 */
export function sanitizeMessage(text: string): string {
  return redactUrls(text).replaceAll(/\?\S+/g, '?…').slice(0, 200);
}
