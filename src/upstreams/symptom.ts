import { jsonOrNull, mediaTypeOf, messageIn } from './classify-failure.ts';
import { type FailureKind, sanitizeMessage, UpstreamFailure } from './failure.ts';
import { callOnce, type HttpResponse } from './http.ts';
import { readRpcResponse, rpcBody } from './json-rpc.ts';
import { retryAfter } from './rate-limit-headers.ts';
import { healthReportOf, jsonBodyOf } from './read-body.ts';

/** A cheap request that tests whether an API responds. */
export interface TestRequest {
  /** Path below the URL of the upstream. */
  readonly path: string;
  /** JSON-RPC method. Undefined: a GET. */
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** True if the response is a health report, which is also accepted with a status of 5xx. */
  readonly isHealthReport?: true;
}

/** A failed call of a check. */
export interface Symptom {
  /** Kind of the failure, the same as for runs and probes. */
  readonly kind: FailureKind;
  /** Kind of the failure if there was no response. Null: there was a response. */
  readonly failed: FailureKind | null;
  /** Error code of the socket or the TLS handshake, such as `ECONNREFUSED`. Empty: none. */
  readonly code: string;
  /** Status of the response. 0: there was none. */
  readonly status: number;
  /** Media type of the response, such as `text/html`. Empty: none. */
  readonly type: string;
  /** Start of the response, or of the error in it. */
  readonly words: string;
  /** Target of a redirect. */
  readonly location: URL | null;
  /** Pause that the upstream requests, in ms. Null: none. */
  readonly retryAfter: number | null;
}

/** Result of a test request. */
export type TestRequestResult = { readonly skew: number | null } & (
  | { readonly body: unknown; readonly symptom: null; readonly took: number }
  | { readonly body: null; readonly symptom: Symptom }
);

/** Parameters of a test request. */
export interface TestRequestOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout of the response, in ms. */
  readonly deadline: number;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/**
 * Sends one request, without a retry. The body of a JSON-RPC response is its result. `skew` is the offset by
 * which the clock of the upstream is ahead, in ms. Null: unknown.
 */
export async function runTestRequest(
  url: string,
  testRequest: TestRequest,
  options: TestRequestOptions,
): Promise<TestRequestResult> {
  const { path, method, params } = testRequest;
  const { headers, deadline, signal, redact } = options;
  const began = Date.now();
  let answer: HttpResponse;
  try {
    const { text, ...rest } = await callOnce(
      {
        method: method === undefined ? 'GET' : 'POST',
        url: new URL(url.replace(/\/$/, '') + path),
        headers: method === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(method === undefined ? {} : { body: rpcBody(RPC_ID, method, params) }),
        deadline,
        maxBytes: MAX_RESPONSE_BYTES,
        signal,
      },
      true,
    );
    answer = { ...rest, text: redact(text) };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { kind, code = '', message } = error;
    const words = redact(message);
    const none = { status: 0, type: '', location: null, retryAfter: null };
    return { body: null, skew: null, symptom: { kind, failed: kind, code, words, ...none } };
  }
  const took = Date.now() - began;
  const skew = skewOf(answer, began + took / 2);
  try {
    return { body: readAnswer(answer, testRequest), symptom: null, took, skew };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { body: null, skew, symptom: symptomOf(error, answer, url, redact) };
  }
}

const RPC_ID = 1;

function readAnswer(answer: HttpResponse, { method, isHealthReport }: TestRequest): unknown {
  if (method !== undefined) return readRpcResponse(jsonBodyOf(answer, Date.now()), RPC_ID, method);
  return isHealthReport ? healthReportOf(answer, Date.now()) : jsonBodyOf(answer, Date.now());
}

function symptomOf(
  { kind }: UpstreamFailure,
  answer: HttpResponse,
  url: string,
  redact: (text: string) => string,
): Symptom {
  return {
    kind,
    failed: null,
    code: '',
    status: answer.status,
    type: mediaTypeOf(answer),
    words: sanitizeMessage(redact(messageIn(jsonOrNull(answer.text)) ?? answer.text.trim())),
    location: locationOf(answer, url, redact),
    retryAfter: retryAfter(answer, Date.now())?.milliseconds ?? null,
  };
}

const headerOf = ({ headers }: HttpResponse, name: string) => String(headers[name] ?? '');

function locationOf(answer: HttpResponse, url: string, redact: (text: string) => string): URL | null {
  const text = redact(headerOf(answer, 'location'));
  return text !== '' && URL.canParse(text, url) ? new URL(text, url) : null;
}

function skewOf(answer: HttpResponse, now: number): number | null {
  const date = Date.parse(headerOf(answer, 'date'));
  return Number.isNaN(date) ? null : date - now;
}
