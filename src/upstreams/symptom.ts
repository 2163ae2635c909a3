import { jsonOrNull, mediaTypeOf, messageIn } from './classify-failure.ts';
import { type FailureKind, UpstreamFailure, wordsOf } from './failure.ts';
import { type Answer, callOnce } from './http.ts';
import { readRpcAnswer, rpcBody } from './json-rpc.ts';
import { retryAfter } from './rate-limit.ts';
import { healthReportOf, jsonBodyOf } from './read-body.ts';

/** One cheap question that shows whether an API answers. */
export interface TrialQuestion {
  /** The path below the upstream's URL. */
  readonly path: string;
  /** The JSON-RPC method; absent: a GET. */
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** The answer is a health report, which also counts with a status of 5xx. */
  readonly isHealthReport?: true;
}

/** A failed call of an examination. */
export interface Symptom {
  /** Kind of the failure, the same as for runs and probes. */
  readonly kind: FailureKind;
  /** Kind of the failure if there was no answer; null: there was an answer. */
  readonly failed: FailureKind | null;
  /** The code of the socket or the TLS handshake, such as `ECONNREFUSED`; empty: none. */
  readonly code: string;
  /** The status of the answer; 0: there was none. */
  readonly status: number;
  /** Its media type, such as `text/html`; empty: none. */
  readonly type: string;
  /** The first words of the answer, or of the error in it. */
  readonly words: string;
  /** Where a redirect leads. */
  readonly location: URL | null;
  /** Milliseconds that the upstream asks us to stay away; null: it does not say. */
  readonly retryAfter: number | null;
}

/** How a question went. */
export type Trial = { readonly skew: number | null } & (
  | { readonly body: unknown; readonly symptom: null; readonly took: number }
  | { readonly body: null; readonly symptom: Symptom }
);

/** How a trial is made. */
export interface TrialOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds for the answer. */
  readonly deadline: number;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Sends one request, without a retry. The body of a JSON-RPC answer is its result. `skew` is how far the upstream's clock is
 * ahead, in ms; null: unknown.
 */
export async function tryOut(url: string, question: TrialQuestion, options: TrialOptions): Promise<Trial> {
  const { path, method, params } = question;
  const { headers, deadline, signal, redact } = options;
  const began = Date.now();
  let answer: Answer;
  try {
    const { text, ...rest } = await callOnce(
      {
        method: method === undefined ? 'GET' : 'POST',
        url: new URL(url.replace(/\/$/, '') + path),
        headers: method === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(method === undefined ? {} : { body: rpcBody(RPC_ID, method, params) }),
        deadline,
        maxBytes: MOST_BYTES,
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
    return { body: readAnswer(answer, question), symptom: null, took, skew };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { body: null, skew, symptom: symptomOf(error, answer, url, redact) };
  }
}

const RPC_ID = 1;

function readAnswer(answer: Answer, { method, isHealthReport }: TrialQuestion): unknown {
  if (method !== undefined) return readRpcAnswer(jsonBodyOf(answer, Date.now()), RPC_ID, method);
  return isHealthReport ? healthReportOf(answer, Date.now()) : jsonBodyOf(answer, Date.now());
}

function symptomOf(
  { kind }: UpstreamFailure,
  answer: Answer,
  url: string,
  redact: (text: string) => string,
): Symptom {
  return {
    kind,
    failed: null,
    code: '',
    status: answer.status,
    type: mediaTypeOf(answer),
    words: wordsOf(redact(messageIn(jsonOrNull(answer.text)) ?? answer.text.trim())),
    location: locationOf(answer, url, redact),
    retryAfter: retryAfter(answer, Date.now())?.milliseconds ?? null,
  };
}

const headerOf = ({ headers }: Answer, name: string) => String(headers[name] ?? '');

function locationOf(answer: Answer, url: string, redact: (text: string) => string): URL | null {
  const text = redact(headerOf(answer, 'location'));
  return text !== '' && URL.canParse(text, url) ? new URL(text, url) : null;
}

function skewOf(answer: Answer, now: number): number | null {
  const date = Date.parse(headerOf(answer, 'date'));
  return Number.isNaN(date) ? null : date - now;
}
