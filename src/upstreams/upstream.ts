import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { type Traced, untraced } from '../lib/trace.ts';
import type { Budget, Priority } from './budget.ts';
import { type FailureKind, UpstreamFailure } from './failure.ts';
import { type Answer, type Call, callOnce } from './http.ts';
import { readRpcAnswer, rpcBody } from './json-rpc.ts';
import { allowanceIn } from './rate-limit.ts';
import { asHealthReport, healthReportOf, jsonBodyOf } from './read-body.ts';

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

/** The way in which a health report is queried: a GET, or JSON-RPC if a method is given. */
interface ProbeCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
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

const CONNECTION_FAILURES: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'dns',
  'refused',
  'reset',
  'timeout',
  'rate-limited',
]);
const ATTEMPTS = 4;
const FIRST_PAUSE = 400;
/** After a longer Retry-After the job goes back to the queue instead of waiting; ms. */
const LONGEST_PAUSE = 20_000;

/** One upstream as one run asks it: `get`, `rpc` and `probe` of the datasets' contract. */
export class UpstreamSession {
  readonly usage: Usage = { requests: 0, units: 0 };
  now: number;
  readonly #settings: UpstreamSettings;
  readonly #asking: Asking;
  readonly #inspect: ((headers: Answer['headers']) => void | Promise<void>) | undefined;
  #nextId = 1;

  /** @param inspect called with the headers of each answer before it is read; what it throws fails the call */
  constructor(
    settings: UpstreamSettings,
    asking: Asking,
    inspect?: (headers: Answer['headers']) => void | Promise<void>,
  ) {
    this.#settings = settings;
    this.#asking = asking;
    this.#inspect = inspect;
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
      return this.#jsonBodyOf(await this.#call('GET', path, query));
    });
  }

  /** See {@link Ask.post}. */
  async post(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(async () => {
      return this.#jsonBodyOf(await this.#call('POST', path, {}, JSON.stringify(body)));
    });
  }

  /** See {@link Ask.rpc}. */
  async rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#retried(() => this.#rpcOnce(path, method, params));
  }

  async #rpcOnce(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = this.#nextId++;
    const answer = await this.#call('POST', path, {}, rpcBody(id, method, params), { rpcMethod: method });
    return readRpcAnswer(this.#jsonBodyOf(answer), id, method);
  }

  /**
   * As {@link UpstreamSession.rpc}, for what the node may not offer: it is called again only if the connection failed.
   */
  async rpcIfOffered(
    path: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    return this.#retried(() => this.#rpcOnce(path, method, params), CONNECTION_FAILURES);
  }

  /** See {@link Ask.probe}. */
  async probe(path: string, { query = {}, method, params }: ProbeCall = {}): Promise<unknown> {
    if (method === undefined)
      return healthReportOf(await this.#call('GET', path, query, undefined, { fresh: true }), this.now);
    const id = this.#nextId++;
    const body = rpcBody(id, method, params);
    const answer = await this.#call('POST', path, {}, body, { fresh: true, rpcMethod: method });
    return asHealthReport(readRpcAnswer(jsonBodyOf(answer, this.now), id, method), answer.status);
  }

  readonly #jsonBodyOf = (answer: Answer) => jsonBodyOf(answer, this.now);

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
    await this.#inspect?.(answer.headers);
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

  /** @param only the failures after which it is tried again; absent: all that may be over in seconds */
  async #retried<T>(attempt: () => Promise<T>, only?: ReadonlySet<FailureKind>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        const pause = error.retryAfter ?? FIRST_PAUSE * 2 ** (attempts - 1) + randomInt(FIRST_PAUSE);
        // Only an answer blocks all workers. The budget's own refusal is rate-limited too, but may be about one priority only.
        if (error.status === 429)
          await this.#settings.budget.block(pause, error.pauseHeader ?? '429 without Retry-After');
        if (!error.retry || only?.has(error.kind) === false || attempts >= ATTEMPTS || pause > LONGEST_PAUSE)
          throw error;
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

/** An answer without the secrets that it echoes, before anything else reads it. */
function withoutSecrets({ status, headers, text }: Answer, redact: (text: string) => string): Answer {
  const clean = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(redact) : value && redact(value),
  ]);
  return { status, headers: Object.fromEntries(clean), text: redact(text) };
}
