import { toErrorMessage } from '../lib/errors.ts';
import { DeliveryFailure } from './delivery-failure.ts';
import { type FailureKind, sanitizeMessage, UpstreamFailure } from './failure.ts';
import { callOnce, type HttpResponse } from './http.ts';
import { retryAfter } from './rate-limit-headers.ts';

/** Timeout of one call to a channel, in ms. The timeout must be shorter than the lease of the channel. */
const CALL_TIMEOUT_MS = 10_000;
/** Maximum size of a response, in bytes. Only its status is needed, and the start of an error message. */
const MAX_RESPONSE_BYTES = 256 * 1024;
/** Maximum pause that a channel can request, in ms. */
const MAX_WAIT_MS = 300_000;

/** Failures before the request was sent. */
const NOT_SENT_KINDS: ReadonlySet<FailureKind> = new Set<FailureKind>(['dns', 'refused', 'tls']);
/** Statuses for invalid messages. A retry would fail, too. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 414, 415, 422]);

const TOO_LARGE = 413;

/** One call to a channel. */
export interface ChannelCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of a POST. Undefined: the request is a GET. A string is sent unchanged, all other values as JSON.
   */
  readonly body?: unknown;
}

/**
 * Sends one HTTP request to a channel, with one timeout for the whole call and without redirects.
 * @returns the response with a status of 2xx, without its body
 * @throws DeliveryFailure if the channel did not accept the message
 */
export async function callChannel(
  { url, headers = {}, body }: ChannelCall,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let answer: HttpResponse;
  try {
    answer = await callOnce({
      method: body === undefined ? 'GET' : 'POST',
      url: new URL(url),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      deadline: CALL_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      statusIsEnough: true,
      signal,
    });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    throw new DeliveryFailure('down', error.message, { mayHaveArrived: !NOT_SENT_KINDS.has(error.kind) });
  }
  const { status, text } = answer;
  if (status >= 200 && status < 300) return answer;
  const words = `HTTP ${status}${text.trim() === '' ? '' : `: ${text.trim()}`}`;
  if (status >= 300 && status < 400)
    throw new DeliveryFailure('down', `${words}: redirects are not followed`);
  if (status === TOO_LARGE) throw new DeliveryFailure('too-large', words);
  throw new DeliveryFailure(REFUSED_STATUSES.has(status) ? 'refused' : 'down', words, {
    // A server error may have occurred after a part was processed.
    mayHaveArrived: status >= 500,
    wait: readWaitMs(answer),
  });
}

/**
 * Returns the error of a channel for logs and the database: short and without URLs. Secrets are redacted
 * before the text is truncated, because a truncated secret could not be recognised.
 */
export const describeDeliveryError = (error: unknown, redact: (text: string) => string): string =>
  sanitizeMessage(redact(toErrorMessage(error)));

/** Returns the pause that the response requests, in ms. Returns null if the response requests none. */
function readWaitMs(answer: HttpResponse): number | null {
  const { milliseconds = 0 } = (answer.status === 429 && retryAfter(answer, Date.now())) || {};
  return milliseconds > 0 ? Math.min(milliseconds, MAX_WAIT_MS) : null;
}
