import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { AbortScope } from '../lib/abort-scope.ts';
import { failureOfError } from './classify-failure.ts';
import { UpstreamFailure } from './failure.ts';
import { Mutex } from './mutex.ts';

/**
 * Timeout per address of a name in the first round, in ms, so that a probe does not spend its time on an
 * unreachable address.
 */
const FIRST_ROUND_TIMEOUT_MS = 250;
/** Timeout per address in the second round, in ms. */
const SECOND_ROUND_TIMEOUT_MS = 4_000;

/**
 * Returns a connector that uses the first address of a name that accepts the connection. If the name has
 * several addresses, the attempt for each address times out after {@link FIRST_ROUND_TIMEOUT_MS}. If all
 * attempts fail and one of them timed out, all addresses are tried again with a longer timeout. Otherwise, a
 * slow IPv4 address together with an unreachable IPv6 address would always fail.
 */
export function createConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  const firstRound = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: FIRST_ROUND_TIMEOUT_MS });
  const secondRound = buildConnector({ ...options, autoSelectFamilyAttemptTimeout: SECOND_ROUND_TIMEOUT_MS });
  return (place, callback) =>
    firstRound(place, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else if (hasTimeout(error)) secondRound(place, callback);
      else callback(error, null);
    });
}

const hasTimeout = (error: Error) =>
  error instanceof AggregateError && error.errors.some((one) => one?.code === 'ETIMEDOUT');

/** One HTTP call and its limits. */
export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout of the whole call including the body, in ms. */
  readonly deadline: number;
  /** Maximum size of the decoded body, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /**
   * Set if only the status and the headers of a response with a status of 2xx are needed. The body is then
   * returned as an empty text.
   */
  readonly statusIsEnough?: true;
}

/** A response with any status. The body is complete and valid UTF-8. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Size of a body above which the rest of the body is read exclusively, in bytes. Several bodies of the
 * maximum size at the same time would exhaust the memory.
 */
const LARGE_BODY_BYTES = 1024 * 1024;
const largeBodies = new Mutex();

const agent = new Agent({
  connections: 64,
  pipelining: 1,
  keepAliveTimeout: 30_000,
  connect: createConnector(),
});
/** Opens a new connection for each call, because a health probe must not fail on a stale socket. */
const freshAgent = new Agent({ pipelining: 0, connect: createConnector() });

/**
 * Makes one call, with one timeout for the whole call, no redirects, and a limit on the decoded bytes.
 * @throws UpstreamFailure if there is no response, or if a response with a status of 2xx has no complete
 * body. The kind is timeout, malformed, too-large, cancelled, or the kind that `failureOfError` returns.
 */
export async function callOnce(call: HttpCall, fresh = false): Promise<HttpResponse> {
  const work = new AbortScope(call.signal, call.deadline);
  try {
    const pending = request(call.url, {
      dispatcher: fresh ? freshAgent : agent,
      method: call.method,
      headers: { 'accept-encoding': 'gzip', accept: 'application/json', ...call.headers },
      ...(call.body === undefined ? {} : { body: call.body }),
      signal: work.signal,
    });
    const response = await rejectOnAbort(pending, work.signal);
    if (call.statusIsEnough && response.statusCode >= 200 && response.statusCode < 300) {
      // The body is read to its end, so that the connection can be reused. A failure of the body changes
      // nothing.
      await response.body.dump({ limit: call.maxBytes, signal: work.signal }).catch(() => {});
      return { status: response.statusCode, headers: response.headers, text: '' };
    }
    const { statusCode: status, headers, body } = response;
    try {
      const bytes = await readBody(body, isGzip(response), call.maxBytes, work.signal);
      return { status, headers, text: textOf(bytes) };
    } catch (error) {
      // If the status is not 2xx, only the status counts, even if the body fails.
      if (call.signal.aborted || (status >= 200 && status < 300)) throw error;
      return { status, headers, text: '' };
    }
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    if (work.timedOut)
      throw new UpstreamFailure('timeout', `no complete response within ${call.deadline} ms`);
    if (call.signal.aborted) throw new UpstreamFailure('cancelled', 'stopped by the recorder');
    throw failureOfError(error);
  } finally {
    work.end();
  }
}

/**
 * Returns the result of the request, but rejects when the signal aborts. A request of undici 7 may never
 * settle, even after an abort, if the server stops during the connect.
 */
const rejectOnAbort = <T>(pending: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    pending.then(resolve, reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/**
 * Returns whether a body is compressed.
 * @throws UpstreamFailure if its encoding was not requested
 */
function isGzip({ headers, statusCode, body }: Dispatcher.ResponseData): boolean {
  const coding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (coding === '' || coding === 'identity') return false;
  if (coding === 'gzip' || coding === 'x-gzip') return true;
  body.once('error', () => {}).destroy(); // undici reports the abort as an error
  throw new UpstreamFailure(
    'malformed',
    `the response is encoded as ${coding.slice(0, 40)}, only gzip was requested`,
    {
      status: statusCode,
    },
  );
}

async function readBody(
  body: Readable,
  gzip: boolean,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  // An error of the body destroys the decompressed stream, so that its reader gets the error.
  const plain = gzip ? body.once('error', (error) => plain.destroy(error)).pipe(createGunzip()) : body;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isEmpty = true;
  if (gzip)
    body.once('data', () => {
      isEmpty = false;
    });
  let endTurn: (() => void) | null = null;
  try {
    for await (const chunk of plain) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new UpstreamFailure('too-large', `the response has more than ${maxBytes} bytes`);
      chunks.push(chunk);
      if (bytes > LARGE_BODY_BYTES) endTurn ??= await largeBodies.acquire(signal);
    }
    return Buffer.concat(chunks, bytes);
  } catch (error) {
    // Some servers set the header `content-encoding` on empty bodies, too.
    if (gzip && isEmpty && body.readableEnded) return EMPTY_BODY;
    throw error;
  } finally {
    if (!body.destroyed) body.destroy();
    endTurn?.();
  }
}

/**
 * Decodes a body as text.
 * @throws UpstreamFailure if it is not valid UTF-8
 */
function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new UpstreamFailure('malformed', 'the response is not valid UTF-8');
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const EMPTY_BODY = Buffer.alloc(0);
