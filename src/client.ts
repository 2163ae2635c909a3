import type { Datasets, Views } from './client-rows.ts';

/** Address and credentials of a recorder. */
export interface ClientOptions {
  /** Base URL, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The value of RECORDER_TOKEN, if the recorder requires a token. */
  readonly token?: string;
  /** Function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Name of a view. */
export type ViewName = Extract<keyof Views, string>;
export type DatasetName = Extract<keyof Datasets, string>;
export type ColumnName<V extends ViewName> = Extract<keyof Views[V], string>;

/** Value of a query parameter. */
export type ParamValue = string | number | boolean | Date;

/** Filters, order and limit of a query. */
export interface RowQueryOptions<V extends ViewName> {
  /**
   * Filters by column and operator, such as `{ chain_id: '43114', 'bucket_start.gte': new Date(0) }`. For
   * functions, the filters include the parameters of the function.
   */
  readonly where?: Readonly<Record<string, ParamValue>>;
  /** Column by which rows are sorted; a prefix `-` sorts in descending order. */
  readonly sort?: ColumnName<V> | `-${ColumnName<V>}`;
  /** Rows per page. Default and maximum: 1000. */
  readonly limit?: number;
  /** Moment as of which rows are returned. Default: now. */
  readonly asOf?: ParamValue;
  /** Aborts the requests. */
  readonly signal?: AbortSignal;
}

/** A page of rows. `next` is the cursor of the next page; null on the last page. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** Error of a request to a recorder. */
export class RecorderError extends Error {
  override readonly name = 'RecorderError';
  readonly status: number;
  /** Every invalid parameter. */
  readonly problems: readonly { readonly parameter: string; readonly problem: string }[];
  /** Delay before a retry, in seconds; null if a retry would fail again. */
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

/**
 * HTTP client of a recorder, for Node.js and browsers. Amounts and other `numeric` values are texts, so that
 * nothing is rounded.
 */
export class RecorderClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ url, token, fetch: sendRequest = globalThis.fetch }: ClientOptions) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#fetch = (...request) => sendRequest(...request);
  }

  /**
   * Yields all rows of a dataset, now or as of a moment. Pages are requested on demand.
   * @throws RecorderError
   */
  rows<D extends DatasetName & ViewName>(
    dataset: D,
    options: RowQueryOptions<D> = {},
  ): AsyncGenerator<Views[D], void, undefined> {
    return this.#all(`/datasets/${dataset}/rows`, options);
  }

  /**
   * Yields every version of the rows of a dataset.
   * @throws RecorderError
   */
  history<D extends DatasetName, V extends Datasets[D] & ViewName>(
    dataset: D,
    options: Omit<RowQueryOptions<V>, 'asOf'> = {},
  ): AsyncGenerator<Views[V], void, undefined> {
    return this.#all(`/datasets/${dataset}/rows/history`, options);
  }

  /**
   * Yields all rows of a view or function.
   * @throws RecorderError
   */
  view<V extends ViewName>(
    view: V,
    options: RowQueryOptions<V> = {},
  ): AsyncGenerator<Views[V], void, undefined> {
    return this.#all(`/views/${view}`, options);
  }

  /**
   * Requests one page of a view or function.
   * @param after `next` of the previous page
   * @throws RecorderError
   */
  page<V extends ViewName>(
    view: V,
    options: RowQueryOptions<V> = {},
    after: string | null = null,
  ): Promise<Page<Views[V]>> {
    return this.get(`/views/${view}`, parametersOf(options, after), options.signal);
  }

  /**
   * Requests changes of all datasets after a cursor, in the order of the feed, each change once. Store `next`
   * for the next call. An empty page means that nothing is new yet.
   * @param after `next` of the previous page; null to start at the oldest change that is kept
   * @throws RecorderError with status 400 if the cursor has expired, or belongs to another database: read all
   * rows again
   */
  changes(
    after: string | null = null,
    { limit = 1000, signal }: Pick<RowQueryOptions<ViewName>, 'limit' | 'signal'> = {},
  ): Promise<Page<Views['changes']>> {
    return this.get('/changes', { limit, ...(after === null ? {} : { after }) }, signal);
  }

  /**
   * Requests any other path of the API, such as `/datasets/metric_points/series`. `/openapi.json` describes
   * the response of each path.
   * @throws RecorderError on every response with an error status
   */
  async get<Answer>(
    path: string,
    parameters: Readonly<Record<string, ParamValue>> = {},
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

  async *#all<Row>(path: string, options: RowQueryOptions<ViewName>): AsyncGenerator<Row, void, undefined> {
    let after: string | null = null;
    do {
      const page: Page<Row> = await this.get(path, parametersOf(options, after), options.signal);
      yield* page.rows;
      after = page.next;
    } while (after !== null);
  }
}

function parametersOf(options: RowQueryOptions<ViewName>, after: string | null): Record<string, ParamValue> {
  const { where, sort, limit = 1000, asOf } = options;
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
