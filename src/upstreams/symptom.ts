import { type FailureKind, UpstreamFailure, wordsOf } from './failure.ts';
import { type Answer, callOnce } from './http.ts';
import { parseJson } from './json.ts';
import { retryAfter } from './rate-limit.ts';

/** One cheap question that shows whether an API answers. */
export interface TrialQuestion {
  /** The path below the upstream's URL. */
  readonly path: string;
  /** The JSON-RPC method; absent: a GET. */
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** JSON is an answer whatever its status: a node that is not healthy reports so with 503. */
  readonly anyStatus?: true;
}

/** What a question led to that was not answered as it should be. */
export interface Symptom {
  /** What the call failed with; null: there was an answer. */
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

/** Asks once, without a second try. `skew` is how far the upstream's clock is ahead, ms; null: it does not say. */
export async function tryOut(url: string, question: TrialQuestion, options: TrialOptions): Promise<Trial> {
  const { path, method, params } = question;
  const { headers, deadline, signal, redact } = options;
  const began = Date.now();
  let answer: Answer;
  try {
    answer = await callOnce(
      {
        method: method === undefined ? 'GET' : 'POST',
        url: new URL(url.replace(/\/$/, '') + path),
        headers: method === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(method === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }),
        deadline,
        maxBytes: MOST_BYTES,
        signal,
      },
      true,
    );
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { kind, code = '', message } = error;
    const words = redact(message);
    const none = { status: 0, type: '', location: null, retryAfter: null };
    return { body: null, skew: null, symptom: { failed: kind, code, words, ...none } };
  }
  const took = Date.now() - began;
  const skew = skewOf(answer, began + took / 2);
  const body = jsonIn(answer);
  const error = errorIn(body);
  const accepted = question.anyStatus || (answer.status >= 200 && answer.status < 300);
  const fine = accepted && body !== undefined && error === null;
  if (fine) return { body, symptom: null, took, skew };
  return {
    body: null,
    skew,
    symptom: {
      failed: null,
      code: '',
      status: answer.status,
      type: headerOf(answer, 'content-type').split(';')[0]?.trim() ?? '',
      words: wordsOf(redact(error ?? answer.text.trim())),
      location: locationOf(answer, url, redact),
      retryAfter: retryAfter(answer, Date.now())?.milliseconds ?? null,
    },
  };
}

const headerOf = ({ headers }: Answer, name: string) => String(headers[name] ?? '');

/** The parsed body; undefined where it is not JSON. */
function jsonIn(answer: Answer): unknown {
  try {
    return parseJson(answer.text);
  } catch {
    return undefined;
  }
}

/** What the error of a JSON answer says; null where it has none. */
function errorIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('error' in body && typeof body.error === 'object' && body.error !== null && 'message' in body.error)
    return String(body.error.message);
  if ('message' in body && 'statusCode' in body) return String(body.message);
  return null;
}

function locationOf(answer: Answer, url: string, redact: (text: string) => string): URL | null {
  const text = redact(headerOf(answer, 'location'));
  return text !== '' && URL.canParse(text, url) ? new URL(text, url) : null;
}

function skewOf(answer: Answer, now: number): number | null {
  const date = Date.parse(headerOf(answer, 'date'));
  return Number.isNaN(date) ? null : date - now;
}
