import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { type Traced, untraced } from '../traced.ts';
import type { Budget, Priority } from './budget.ts';
import { type FailureKind, UpstreamFailure, wordsOf } from './failure.ts';
import { type Answer, type Call, callOnce, textOf } from './http.ts';
import { parseJson } from './json.ts';
import { readRpcAnswer, rpcBody } from './json-rpc.ts';
import { allowanceIn, retryAfter } from './rate-limit.ts';

/** What is known of an upstream: one service, or one node. */
export interface UpstreamSettings {
  /** Such as `metrics` or `nodes/validator-1`; shown in logs and errors. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Removes secrets from a text, such as an API key that an upstream echoes. */
  readonly redact: (text: string) => string;
  readonly budget: Budget;
  /** Milliseconds for one call. */
  readonly deadline: number;
  readonly maxBytes: number;
  /** Told of every call: the status of the answer, or why there was no whole one, and the seconds that it took. */
  readonly called?: (outcome: number | FailureKind, seconds: number) => void;
}

/** Counts what one run asked. */
export interface Usage {
  requests: number;
  units: number;
}

/** Under which priority, weight and signal a run asks. */
export interface Asking {
  readonly weight: number;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Fewer items a page than the service would give; undefined: as many as it gives. */
  readonly pageSize?: number | undefined;
  /** Absent: calls are not noted in traces. */
  readonly traced?: Traced;
}

const ATTEMPTS = 4;
const FIRST_PAUSE = 400;
/** After a longer Retry-After the job goes back to the queue instead of waiting; ms. */
const LONGEST_PAUSE = 20_000;

/** One upstream as one run asks it: `get`, `rpc` and `probe` of the datasets' contract. */
export class UpstreamSession {
  readonly usage: Usage = { requests: 0, units: 0 };
  now: number;
  /** See {@link UpstreamSession.again}. */
  #last: { readonly body: unknown; readonly read: () => unknown } | null = null;
  readonly #settings: UpstreamSettings;
  readonly #asking: Asking;
  #nextId = 1;

  constructor(settings: UpstreamSettings, asking: Asking) {
    this.#settings = settings;
    this.#asking = asking;
    this.now = asking.clock();
  }

  /** See {@link Ask.pageSize}. */
  pageSize(most: number): number {
    return Math.min(this.#asking.pageSize ?? most, most);
  }

  /** See {@link Ask.get}. */
  async get(
    path: string,
    query: Readonly<Record<string, string | number | undefined>> = {},
  ): Promise<unknown> {
    return this.#retried(async () => {
      const answer = await this.#call('GET', path, query);
      this.#refuse(answer);
      return this.#read(answer, bodyOf);
    });
  }

  /** See {@link Ask.post}. */
  async post(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(async () => {
      const answer = await this.#call('POST', path, {}, JSON.stringify(body));
      this.#refuse(answer);
      return this.#read(answer, bodyOf);
    });
  }

  /** See {@link Ask.rpc}. */
  async rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(async () => {
      const id = this.#nextId++;
      const answer = await this.#call('POST', path, {}, rpcBody(id, method, params), { rpcMethod: method });
      this.#refuse(answer);
      return this.#read(answer, (one) => readRpcAnswer(bodyOf(one), id, method));
    });
  }

  /** See {@link Ask.probe}. */
  async probe(
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: unknown }> {
    const answer = await this.#call('GET', path, query, undefined, { fresh: true });
    return { status: answer.status, body: jsonIn(answer, REPORT_TYPES) };
  }

  /**
   * How the body of the last answer is read again from its bytes, which weigh a small part of it and lie outside of the heap. Told once:
   * the body is let go. Null: the body is another one.
   */
  again(body: unknown): (() => unknown) | null {
    const last = this.#last;
    this.#last = null;
    return last && last.body === body ? last.read : null;
  }

  #read(answer: Answer, bodyIn: (answer: Answer) => unknown): unknown {
    const body = bodyIn(answer);
    const { status, headers, bytes } = answer;
    const text = () => this.#settings.redact(textOf(bytes));
    this.#last = { body, read: () => bodyIn({ status, headers, bytes, text: text() }) };
    return body;
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    body?: string,
    { fresh = false, rpcMethod }: { fresh?: boolean; rpcMethod?: string } = {},
  ): Promise<Answer> {
    const { weight, priority, signal, clock, traced = untraced } = this.#asking;
    const { name, budget, url, headers, deadline, maxBytes, redact } = this.#settings;
    await budget.take(weight, priority, signal);
    this.usage.requests += 1;
    this.usage.units += weight;
    const call = {
      method,
      url: urlBelow(url, path, query),
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      deadline,
      maxBytes,
      signal,
    };
    // The path is the one below the configured URL, which may hold a key, and without a query, which may hold tokens.
    const attributes = {
      'recorder.upstream': name,
      'http.request.method': method,
      'server.address': call.url.hostname,
      'url.path': path,
      'rpc.method': rpcMethod,
    };
    const raw = await traced({ name: method, asks: true, attributes }, async (tell) => {
      const answer = await this.#counted(call, fresh);
      tell(
        { 'http.response.status_code': answer.status },
        answer.status >= 400 ? `answered ${answer.status}` : undefined,
      );
      return answer;
    });
    const answer = withoutSecrets(raw, redact);
    this.now = clock();
    const allowance = allowanceIn(answer, this.now);
    if (allowance) await budget.learn(allowance);
    return answer;
  }

  async #counted(call: Call, fresh: boolean): Promise<Answer> {
    const { called = () => {} } = this.#settings;
    const began = performance.now();
    const tell = (outcome: number | FailureKind) => called(outcome, (performance.now() - began) / 1000);
    try {
      const answer = await callOnce(call, fresh);
      tell(answer.status);
      return answer;
    } catch (error) {
      if (error instanceof UpstreamFailure) tell(error.kind);
      throw error;
    }
  }

  #refuse(answer: Answer): void {
    refuseStatus(answer, this.now);
  }

  async #retried<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        const pause = error.retryAfter ?? FIRST_PAUSE * 2 ** (attempts - 1) + randomInt(FIRST_PAUSE);
        // Only an answer blocks all workers. The budget's own refusal is rate-limited too, but may be about one priority only.
        if (error.status === 429)
          await this.#settings.budget.block(pause, error.pauseHeader ?? '429 without Retry-After');
        if (!error.retry || attempts >= ATTEMPTS || pause > LONGEST_PAUSE) throw error;
        await delay(pause, undefined, { signal: this.#asking.signal }).catch(() => {
          throw new UpstreamFailure('cancelled', 'stopped by the recorder');
        });
      }
    }
  }
}

function urlBelow(
  base: string,
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): URL {
  const url = new URL(base.replace(/\/$/, '') + path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

const JSON_TYPES = /\bjson\b/i;
/** Health reports were seen as plain text (reality.md 6). */
const REPORT_TYPES = /\bjson\b|^text\/plain\b/i;

/** An answer without the secrets that it echoes, before anything else reads it. */
function withoutSecrets({ status, headers, text, bytes }: Answer, redact: (text: string) => string): Answer {
  const clean = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(redact) : value && redact(value),
  ]);
  return { status, headers: Object.fromEntries(clean), text: redact(text), bytes };
}

/** The parsed body. @throws UpstreamFailure when it is not JSON, by type or by content */
function bodyOf(answer: Answer): unknown {
  return jsonIn(answer, JSON_TYPES);
}

/** As {@link bodyOf}, of answers of some types. */
function jsonIn(answer: Answer, types: RegExp): unknown {
  const type = String(answer.headers['content-type'] ?? '');
  if (!types.test(type))
    throw new UpstreamFailure(
      'malformed',
      `the answer is ${type.split(';')[0] || 'without a content type'}, not JSON`,
      { status: answer.status },
    );
  try {
    return parseJson(answer.text);
  } catch {
    throw new UpstreamFailure(
      'malformed',
      `the answer's ${answer.text.length} characters are not whole JSON`,
      { status: answer.status },
    );
  }
}

/** @throws UpstreamFailure when the status is outside 2xx (seed chain-data section 7) */
function refuseStatus(answer: Answer, now: number): void {
  const { status } = answer;
  if (status === 206)
    throw new UpstreamFailure('malformed', 'answered 206: a part of the response, which was not requested', {
      status,
    });
  if (status >= 200 && status < 300) return;
  const more = { status };
  const message = `answered ${status}${messageIn(answer)}`;
  if (status === 429)
    throw new UpstreamFailure('rate-limited', message, { status, pause: retryAfter(answer, now) });
  if (status >= 500) throw new UpstreamFailure('server', message, { status, pause: retryAfter(answer, now) });
  if (status >= 300 && status < 400)
    throw new UpstreamFailure('redirect', `${message}: redirects are not followed`, more);
  if (status === 401 || status === 403) throw new UpstreamFailure('auth', message, more);
  if (status === 404 || status === 410) throw new UpstreamFailure('not-found', message, more);
  throw new UpstreamFailure('bad-request', message, more);
}

/** The `message` of an error body; nothing for other bodies. */
function messageIn(answer: Answer): string {
  try {
    const body = parseJson(answer.text);
    if (typeof body !== 'object' || body === null || !('message' in body)) return '';
    const message = Array.isArray(body.message) ? body.message.join('; ') : String(body.message);
    return `: ${wordsOf(message)}`;
  } catch {
    return '';
  }
}
