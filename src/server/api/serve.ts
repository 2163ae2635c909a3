import { Readable } from 'node:stream';
import etag from '@fastify/etag';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger as Log } from 'pino';
import { isDatabaseUnavailable } from '../../db/connection-error.ts';
import type { ReadGate } from '../../db/read-gate.ts';
import { ReplicaUnavailableError } from '../../db/replica-unavailable.ts';
import { TooManyReadsError } from '../../db/semaphore.ts';
import type { Clock } from '../../lib/clock.ts';
import { formatDisplayCsv } from '../../lib/csv.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { readVersion } from '../../lib/version.ts';
import { getCatalogue } from '../../reporting/relations/catalogue.ts';
import { InvalidRequestError, invalidParameter } from '../../reporting/relations/invalid-request.ts';
import type { Values } from '../../reporting/reports/saved-queries.ts';
import type { Status } from '../../reporting/reports/status.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import type { RequestThrottle } from '../load-shedding.ts';
import { openApi } from './openapi.ts';
import type { Operation, PreparedResponse } from './operation.ts';
import { operationsOf } from './operations.ts';

/** An error response (RFC 9457). */
interface ApiProblem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** All invalid parameters. */
  readonly problems?: InvalidRequestError['problems'];
  /** Time to wait before a retry, in s. */
  readonly retryAfter?: number;
}

/** Time to wait before a retry while the database is unavailable, in s. */
const RETRY_AFTER_SECONDS = 5;

function problemOf(error: unknown): ApiProblem {
  const detail = toErrorMessage(error);
  if (error instanceof InvalidRequestError)
    return { status: 400, title: 'Invalid request', detail, problems: error.problems };
  if (error instanceof TooManyReadsError)
    return { status: 503, title: 'Too many concurrent reads', detail, retryAfter: error.retryAfter };
  if (error instanceof ReplicaUnavailableError)
    return { status: 503, title: 'The replica cannot be read', detail, retryAfter: RETRY_AFTER_SECONDS };
  if (isDatabaseUnavailable(error))
    return { status: 503, title: 'The database cannot be reached', detail, retryAfter: RETRY_AFTER_SECONDS };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === '57014' || (error instanceof Error && error.name === 'TimeoutError'))
    return {
      status: 504,
      title: 'The database took too long',
      detail:
        'select fewer rows: filter by the first columns of the key, sort by the key, or choose a shorter window',
    };
  // Class 22: values that PostgreSQL rejects, and queries without a result, such as a moment before the first
  // record or a sum of different units.
  if (/^22/.test(code)) {
    const hint = error instanceof Error && 'hint' in error && error.hint ? `; ${error.hint}` : '';
    return { status: 400, title: 'No result', detail: `${detail}${hint}` };
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return { status, title: 'Invalid request', detail };
  return { status: 500, title: 'Internal error', detail: 'the log of the recorder contains the cause' };
}

export interface ApiOptions {
  readonly gate: ReadGate;
  readonly pace: RequestThrottle;
  readonly clock: Clock;
  readonly status: () => Promise<Status>;
  readonly log: Pick<Log, 'warn'>;
  /** Parameters from the configuration, for saved queries that have parameters of these names. */
  readonly defaults: Values;
}

/** Serves `/api/v1/…` and `/openapi.json`. */
export function serveApi(
  server: FastifyInstance,
  { gate, pace, clock, status, log, defaults }: ApiOptions,
): void {
  let operationsByPath: ReadonlyMap<string, Operation> | undefined;
  /**
   * Returns the operations. The first request creates them, because their creation would be most of the start
   * time of the server.
   */
  const operations = () => {
    operationsByPath ??= operationsOf({ catalogue: getCatalogue(), clock, status, defaults });
    return operationsByPath;
  };
  let document: Promise<string> | undefined;

  void server.register(async (api) => {
    await api.register(etag, { weak: true });
    api.setErrorHandler((error, request, reply) => {
      const problem = problemOf(error);
      if (problem.status === 500)
        log.warn({ path: request.url, cause: toErrorMessage(error) }, 'a request failed');
      return sendProblem(reply, problem);
    });
    api.get('/openapi.json', async (_request, reply) => {
      document ??= openApi(operations(), getCatalogue(), readVersion()).then((api) => JSON.stringify(api));
      return reply.type('application/json; charset=utf-8').send(await document);
    });
    api.get<{ Params: { '*': string }; Querystring: Record<string, unknown> }>(
      '/api/v1/*',
      async (request, reply) => {
        const { path, suffix } = splitSuffix(`/${request.params['*']}`);
        const operation = operations().get(path);
        if (!operation) return sendProblem(reply, notFoundProblem(path, operations()));
        const { format, ...params } = request.query;
        const answering = operation.prepare(params);
        const signal = abortOnDisconnect(reply);
        if (formatOf(format, suffix) === 'csv')
          return sendCsv(request, reply, answering, { gate, pace, signal });
        const answer = await gate.read((sql) => answering.json(sql), signal);
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer));
      },
    );
  });
}

/** Splits a path into the path of the operation and the suffix of the format. */
function splitSuffix(whole: string): { path: string; suffix: 'csv' | 'json' | null } {
  const [, path = whole, suffix] = /^(.*)\.(csv|json)$/.exec(whole) ?? [];
  return { path, suffix: suffix === 'csv' || suffix === 'json' ? suffix : null };
}

/**
 * Returns the format of the response.
 * @throws InvalidRequestError if the format is invalid or contradicts the suffix
 */
function formatOf(format: unknown, suffix: 'csv' | 'json' | null): 'csv' | 'json' {
  const requestedFormat = format ?? suffix ?? 'json';
  if (
    (requestedFormat !== 'csv' && requestedFormat !== 'json') ||
    (suffix !== null && requestedFormat !== suffix)
  )
    throw invalidParameter('format', 'must be json or csv, and equal the extension of the path');
  return requestedFormat;
}

/** Streams CSV, one page at a time, so that the required memory does not depend on the size of the result. */
async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  { csv }: PreparedResponse,
  { gate, pace, signal }: Pick<ApiOptions, 'gate' | 'pace'> & { readonly signal: AbortSignal },
): Promise<FastifyReply> {
  const read = (after: string | null) => gate.read((sql) => csv.page(sql, after), signal);
  // The first page is read before the response starts, so that an error can be reported by its status.
  const first = await read(null);
  // Each further page is queued like a separate request.
  const readNext = async (after: string | null) => {
    const end = await pace.acquireTurn(request.socket.remoteAddress ?? '');
    return read(after).finally(end);
  };
  async function* lines() {
    yield formatDisplayCsv(csv.columns);
    for (let page = first; ; page = await readNext(page.next)) {
      yield page.rows.map((row) => formatDisplayCsv(csv.columns.map((name) => row[name]))).join('');
      if (page.next === null) return;
    }
  }
  void reply.type('text/csv; charset=utf-8; header=present');
  return reply.send(request.method === 'HEAD' ? '' : Readable.from(lines()));
}

function notFoundProblem(path: string, operations: ReadonlyMap<string, Operation>): ApiProblem {
  const parts = path.split('/');
  const nearest = parts
    .map((_, at) => parts.slice(0, parts.length - at).join('/'))
    .find((one) => operations.has(one));
  const place = nearest ?? '';
  const below = [...operations.keys()].filter((one) => one.startsWith(`${place}/`));
  const paths = below
    .map((one) => one.slice(place.length + 1))
    .filter((one) => nearest !== undefined || !one.includes('/'));
  return {
    status: 404,
    title: 'Not found',
    detail: `below /api/v1${place} there are ${paths.filter((one) => !one.includes('/')).join(', ') || 'no others'}`,
  };
}

/** Sends an error as application/problem+json. */
function sendProblem(reply: FastifyReply, { retryAfter, problems, ...problem }: ApiProblem): FastifyReply {
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
  return reply
    .code(problem.status)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify({ type: 'about:blank', ...problem, ...(problems ? { problems } : {}) }));
}
