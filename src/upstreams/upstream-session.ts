import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { type RunInSpan, untraced } from '../lib/trace.ts';
import type { Budget, Priority } from './budget.ts';
import { type FailureKind, UpstreamFailure } from './failure.ts';
import { callOnce, type HttpCall, type HttpResponse } from './http.ts';
import { readRpcResponse, rpcBody } from './json-rpc.ts';
import { allowanceIn } from './rate-limit-headers.ts';
import { healthReportOf, jsonBodyOf, requireHealthReport } from './read-body.ts';

/** Settings of an upstream: a service or a node. */
export interface UpstreamSettings {
  /** Name such as `metrics` or `nodes/validator-1`, used in logs and errors. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Removes secrets from a text, such as an API key that an upstream echoes. */
  readonly redact: (text: string) => string;
  readonly budget: Budget;
  /** Timeout of one call, in ms. */
  readonly deadline: number;
  readonly maxBytes: number;
  /**
   * Called after every call with the status of the response, or the failure kind if there was no complete
   * response, and the duration in seconds.
   */
  readonly onCall?: (outcome: number | FailureKind, seconds: number) => void;
}

/** Call that requests a health report: a GET, or JSON-RPC if a method is given. */
interface ProbeCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Request counts of one run. */
export interface Usage {
  requests: number;
  units: number;
}

/** Priority, weight and signal of the calls of a run. */
export interface SessionOptions {
  readonly weight: number;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Number of items to request per page. Undefined: the maximum of the service. */
  readonly pageSize?: number | undefined;
  /** Undefined: calls are not traced. */
  readonly traced?: RunInSpan;
}

const CONNECTION_FAILURES: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'dns',
  'refused',
  'reset',
  'timeout',
  'rate-limited',
]);
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 400;
/** Maximum Retry-After for which a call waits, in ms. With a longer one, the job returns to the queue. */
const MAX_PAUSE_MS = 20_000;

/** An upstream during one run: `get`, `rpc` and `probe` of the contract of the datasets. */
export class UpstreamSession {
  readonly usage: Usage = { requests: 0, units: 0 };
  now: number;
  readonly #settings: UpstreamSettings;
  readonly #options: SessionOptions;
  readonly #inspect: ((headers: HttpResponse['headers']) => void | Promise<void>) | undefined;
  #nextId = 1;

  /**
   * @param inspect called with the headers of each response before the body is parsed; its error fails the
   * call
   */
  constructor(
    settings: UpstreamSettings,
    options: SessionOptions,
    inspect?: (headers: HttpResponse['headers']) => void | Promise<void>,
  ) {
    this.#settings = settings;
    this.#options = options;
    this.#inspect = inspect;
    this.now = options.clock();
  }

  /** See {@link UpstreamClient.pageSize}. */
  pageSize(most: number): number {
    return Math.min(this.#options.pageSize ?? most, most);
  }

  /** See {@link UpstreamClient.get}. */
  async get(
    path: string,
    query: Readonly<Record<string, string | number | undefined>> = {},
  ): Promise<unknown> {
    return this.#retried(async () => {
      return this.#jsonBodyOf(await this.#call('GET', path, query));
    });
  }

  /** See {@link UpstreamClient.post}. */
  async post(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(async () => {
      return this.#jsonBodyOf(await this.#call('POST', path, {}, JSON.stringify(body)));
    });
  }

  /** See {@link UpstreamClient.rpc}. */
  async rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(() => this.#rpcOnce(path, method, params));
  }

  async #rpcOnce(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = this.#nextId++;
    const answer = await this.#call('POST', path, {}, rpcBody(id, method, params), { rpcMethod: method });
    return readRpcResponse(this.#jsonBodyOf(answer), id, method);
  }

  /**
   * Same as {@link UpstreamSession.rpc}, for a method that the node may not offer. The call is retried only
   * if the connection failed.
   */
  async rpcIfOffered(
    path: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    return this.#retried(() => this.#rpcOnce(path, method, params), CONNECTION_FAILURES);
  }

  /** See {@link UpstreamClient.probe}. */
  async probe(path: string, { query = {}, method, params }: ProbeCall = {}): Promise<unknown> {
    if (method === undefined)
      return healthReportOf(await this.#call('GET', path, query, undefined, { fresh: true }), this.now);
    const id = this.#nextId++;
    const body = rpcBody(id, method, params);
    const answer = await this.#call('POST', path, {}, body, { fresh: true, rpcMethod: method });
    return requireHealthReport(readRpcResponse(jsonBodyOf(answer, this.now), id, method), answer.status);
  }

  readonly #jsonBodyOf = (answer: HttpResponse) => jsonBodyOf(answer, this.now);

  async #call(
    method: 'GET' | 'POST',
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    body?: string,
    { fresh = false, rpcMethod }: { fresh?: boolean; rpcMethod?: string } = {},
  ): Promise<HttpResponse> {
    const { weight, priority, signal, clock, traced = untraced } = this.#options;
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
    // The path is the part below the configured URL, which may contain an API key. It has no query, which may
    // contain tokens.
    const attributes = {
      'recorder.upstream': name,
      'http.request.method': method,
      'server.address': call.url.hostname,
      'url.path': path,
      'rpc.method': rpcMethod,
    };
    const raw = await traced({ name: method, isClientCall: true, attributes }, async (addAttributes) => {
      const answer = await this.#counted(call, fresh);
      addAttributes(
        { 'http.response.status_code': answer.status },
        answer.status >= 400 ? `answered ${answer.status}` : undefined,
      );
      return answer;
    });
    const answer = withoutSecrets(raw, redact);
    this.now = clock();
    await this.#inspect?.(answer.headers);
    const allowance = allowanceIn(answer, this.now);
    if (allowance) await budget.learn(allowance);
    return answer;
  }

  async #counted(call: HttpCall, fresh: boolean): Promise<HttpResponse> {
    const { onCall = () => {} } = this.#settings;
    const began = performance.now();
    const countCall = (outcome: number | FailureKind) => onCall(outcome, (performance.now() - began) / 1000);
    try {
      const answer = await callOnce(call, fresh);
      countCall(answer.status);
      return answer;
    } catch (error) {
      if (error instanceof UpstreamFailure) countCall(error.kind);
      throw error;
    }
  }

  /**
   * Makes a call, and repeats it after failures.
   * @param only kinds of failures after which the call is repeated. Default: all that may end within seconds.
   */
  async #retried<T>(attempt: () => Promise<T>, only?: ReadonlySet<FailureKind>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        const pause = error.retryAfter ?? FIRST_PAUSE_MS * 2 ** (attempts - 1) + randomInt(FIRST_PAUSE_MS);
        // Only a response blocks all workers. A rejection by the budget itself is rate-limited, too, but may
        // apply to one priority only.
        if (error.status === 429)
          await this.#settings.budget.block(pause, error.pauseHeader ?? '429 without Retry-After');
        if (
          !error.retry ||
          only?.has(error.kind) === false ||
          attempts >= MAX_ATTEMPTS ||
          pause > MAX_PAUSE_MS
        )
          throw error;
        await delay(pause, undefined, { signal: this.#options.signal }).catch(() => {
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

/** Removes echoed secrets from a response, before it is processed. */
function withoutSecrets(
  { status, headers, text }: HttpResponse,
  redact: (text: string) => string,
): HttpResponse {
  const clean = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(redact) : value && redact(value),
  ]);
  return { status, headers: Object.fromEntries(clean), text: redact(text) };
}
