import type { Datasets, Views } from './client-rows.ts';

/** Where the recorder is. */
export interface ClientOptions {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** RECORDER_TOKEN, where the recorder has one. */
  readonly token?: string;
  /** What asks; `fetch` unless told. */
  readonly fetch?: typeof fetch;
}

/** The name of a view, and of a column of it. */
export type View = Extract<keyof Views, string>;
export type Dataset = Extract<keyof Datasets, string>;
export type Column<V extends View> = Extract<keyof Views[V], string>;

/** Values that can be written into a parameter. */
export type Given = string | number | boolean | Date;

/** Which rows are wanted, and how. */
export interface Wanted<V extends View> {
  /** Filters by column and operator, such as `{ chain_id: '43114', 'bucket_start.gte': new Date(0) }`; of functions also parameters. */
  readonly where?: Readonly<Record<string, Given>>;
  /** A column, with `-` before it where the order falls. */
  readonly sort?: Column<V> | `-${Column<V>}`;
  /** Rows of one page, at most 1000; 1000 unless told. */
  readonly limit?: number;
  /** The rows as known at this moment. */
  readonly asOf?: Given;
  /** Stops asking. */
  readonly signal?: AbortSignal;
}

/** A page of rows; `next` is where the next one begins, null: this is the last. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** The recorder did not answer what was asked. */
export class RecorderError extends Error {
  override readonly name = 'RecorderError';
  readonly status: number;
  /** Everything that is wrong with the parameters. */
  readonly problems: readonly { readonly parameter: string; readonly problem: string }[];
  /** After how many seconds to try again; null: the same would fail again. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    status: number,
    problems: readonly { readonly parameter: string; readonly problem: string }[],
    retryAfter: number | null,
  ) {
    super(message);
    this.status = status;
    this.problems = problems;
    this.retryAfter = retryAfter;
  }
}

/** Reads a recorder over HTTP, in Node.js and in browsers. Amounts and other `numeric` values are texts, so that nothing is rounded. */
export class RecorderClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ url, token, fetch: ask = globalThis.fetch }: ClientOptions) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#fetch = (...request) => ask(...request);
  }

  /** All rows of a dataset, now or as of a moment; pages are asked for as they are needed. @throws RecorderError */
  rows<D extends Dataset & View>(
    dataset: D,
    wanted: Wanted<D> = {},
  ): AsyncGenerator<Views[D], void, undefined> {
    return this.#all(`/datasets/${dataset}/rows`, wanted);
  }

  /** Every version of the rows of a dataset. @throws RecorderError */
  history<D extends Dataset, V extends Datasets[D] & View>(
    dataset: D,
    wanted: Omit<Wanted<V>, 'asOf'> = {},
  ): AsyncGenerator<Views[V], void, undefined> {
    return this.#all(`/datasets/${dataset}/rows/history`, wanted);
  }

  /** All rows of a view or function. @throws RecorderError */
  view<V extends View>(view: V, wanted: Wanted<V> = {}): AsyncGenerator<Views[V], void, undefined> {
    return this.#all(`/views/${view}`, wanted);
  }

  /** One page of a view or function. @param after `next` of the page before @throws RecorderError */
  page<V extends View>(
    view: V,
    wanted: Wanted<V> = {},
    after: string | null = null,
  ): Promise<Page<Views[V]>> {
    return this.get(`/views/${view}`, parametersOf(wanted, after), wanted.signal);
  }

  /**
   * Changes of all datasets after a cursor, in the order of the feed; each once. Keep `next`, and ask again with it: no rows mean that
   * nothing is new yet.
   * @param after `next` of the page before; null: from the oldest change that is kept
   * @throws RecorderError with status 400 where the cursor is not kept any more, or is of another database: read the record anew
   */
  changes(
    after: string | null = null,
    { limit = 1000, signal }: Pick<Wanted<View>, 'limit' | 'signal'> = {},
  ): Promise<Page<Views['changes']>> {
    return this.get('/changes', { limit, ...(after === null ? {} : { after }) }, signal);
  }

  /**
   * Anything else of the API, such as `/datasets/metric_points/series`; the answer is what `/openapi.json` says of that address.
   * @throws RecorderError when there is no answer
   */
  async get<Answer>(
    path: string,
    parameters: Readonly<Record<string, Given>> = {},
    signal?: AbortSignal,
  ): Promise<Answer> {
    const query = new URLSearchParams(
      Object.entries(parameters).map(([name, value]) => [
        name,
        value instanceof Date ? value.toISOString() : `${value}`,
      ]),
    );
    const answer = await this.#fetch(`${this.#base}${path}?${query}`, {
      headers: this.#headers,
      ...(signal ? { signal } : {}),
    });
    const body = await answer.text();
    if (answer.ok) return JSON.parse(body);
    throw errorOf(answer, body);
  }

  async *#all<Row>(path: string, wanted: Wanted<View>): AsyncGenerator<Row, void, undefined> {
    let after: string | null = null;
    do {
      const page: Page<Row> = await this.get(path, parametersOf(wanted, after), wanted.signal);
      yield* page.rows;
      after = page.next;
    } while (after !== null);
  }
}

function parametersOf(wanted: Wanted<View>, after: string | null): Record<string, Given> {
  const { where, sort, limit = 1000, asOf } = wanted;
  return {
    ...where,
    limit,
    ...(sort === undefined ? {} : { sort }),
    ...(asOf === undefined ? {} : { as_of: asOf }),
    ...(after === null ? {} : { after }),
  };
}

function errorOf({ status, statusText, headers }: Response, body: string): RecorderError {
  const after = Number(headers.get('retry-after') ?? 'none');
  const retryAfter = Number.isFinite(after) ? after : null;
  const type = headers.get('content-type') ?? '';
  if (!type.includes('json')) return new RecorderError(`${status} ${statusText}`, status, [], retryAfter);
  const { detail, error, problems = [] } = JSON.parse(body);
  return new RecorderError(detail ?? error ?? `${status} ${statusText}`, status, problems, retryAfter);
}
