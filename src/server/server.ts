import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import type { BudgetKey } from '../db/budget-key.ts';
import { schemaProblem } from '../db/migrate.ts';
import type { ReadGate } from '../db/read-gate.ts';
import type { Replica } from '../db/replica.ts';
import type { QueuesView } from '../jobs/queue-look.ts';
import type { Clock } from '../lib/clock.ts';
import { toErrorMessage } from '../lib/errors.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { demands, isMetered } from '../reporting/reports/call-demand.ts';
import { diskUse } from '../reporting/reports/disk.ts';
import { forecast } from '../reporting/reports/forecast.ts';
import { readMyValidators } from '../reporting/reports/my-validators.ts';
import { nodesStatus } from '../reporting/reports/nodes/nodes-status.ts';
import type { RewardThresholds } from '../reporting/reports/rewards.ts';
import { statusOf } from '../reporting/reports/status.ts';
import type { Access } from './access.ts';
import { serveApi } from './api/serve.ts';
import { readAssets, serveAssets } from './assets.ts';
import { serveBadges } from './badge.tsx';
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS, limitConnections } from './connections.ts';
import { refuseFuture } from './future-moments.ts';
import { HEADERS, isCrossSiteRequest, isOwnName, sendHeaders } from './headers.ts';
import { throttleRequests } from './load-shedding.ts';
import { memoizeWithTtl, proportionalTtl } from './memoize-with-ttl.ts';
import { metricsOf, PROMETHEUS_TEXT } from './metrics/metrics.ts';
import type { ProcessCounts } from './metrics/process-counts.ts';
import type { RecorderFacts } from './pages/page.ts';
import { refusedRequest } from './pages/problems.tsx';
import { MAX_HEAD_BYTES, servePages } from './pages/serve.tsx';
import { serveQueryData } from './query-data.ts';
import { QueueUnavailableError } from './queue-unavailable.ts';
import type { StatusSite } from './status-site.ts';

/** Dependencies of the server. */
export interface ServerContext {
  /** For health and metrics. Has connections of its own: requests never use those of the recording. */
  readonly sql: postgres.Sql;
  /** For the pages and the API. */
  readonly gate: ReadGate;
  /** Replica that the gate reads instead of the database. Default: the database itself. */
  readonly replica?: Replica | null;
  readonly clock: Clock;
  /** The access rules. */
  readonly access: Access;
  readonly log: Pick<Log, 'warn'>;
  /** Rejects if the queue cannot be reached. */
  readonly queueReachable: () => Promise<unknown>;
  readonly queues: QueuesView;
  /** Host names of the server, in addition to localhost and the address at which a request arrives. */
  readonly allowedHosts: readonly string[];
  /** The budgets that are displayed. */
  readonly budgets: readonly BudgetKey[];
  readonly recorder: RecorderFacts;
  /** The feeds of the upstreams, and the configuration of the upstreams. */
  readonly watched: readonly ConfiguredFeed[];
  readonly upstreams: Config['upstreams'];
  /** Counters of this process, for `/metrics`. */
  readonly counts: ProcessCounts;
  /** The uptimes that a reward requires. */
  readonly rewards: RewardThresholds;
  /** Configuration of the status page. */
  readonly site: StatusSite;
  /**
   * Returns whether this process records at this moment, so that requests get only a part of its time; null
   * if it never records.
   */
  readonly recording: (() => boolean) | null;
  /** Timeout of a connection without data, in ms. Default: 120 000. */
  readonly stallTimeoutMs?: number;
  readonly connections?: ConnectionLimits;
  /** Called each time the limit of connections is reached. */
  readonly connectionLimitReached?: () => void;
}

/** Timeouts of receiving the headers of a request, and all of it, in ms. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Default timeout of a connection without data, in ms. Every response starts earlier, so a connection that
 * exceeds it does not read. Without this timeout such connections would remain open and count.
 */
const STALL_TIMEOUT_MS = 120_000;

const QUERY_TIMEOUT_MS = 3_000;
/** Cache time of queries of the database, in ms, whatever the number of requests. */
const CACHE_TTL_MS = 1_000;

/** Cache time of values that change slowly, in ms. */
const SLOW_CACHE_TTL_MS = 60_000;
/** Cache time of the nodes' ledger, in ms, whatever the number of visitors of the status page. */
const NODES_CACHE_TTL_MS = 5_000;
const NODES_TIMEOUT_MS = 8_000;
/** Cache time of the user's validators, in ms: they are polled once a minute. */
const VALIDATORS_CACHE_TTL_MS = 10_000;

/**
 * Refuses JSON Schemas of routes; no route has one. Fastify's default compilers are a hundred modules, which
 * it would load at the start.
 */
const noSchemas = () => {
  throw new Error('the server compiles no JSON Schema: validate the input of a route with zod');
};

/**
 * Builds the HTTP server: `/health`, `/ready`, `/metrics`, `/api/status`, `/api/v1`, and the pages.
 * Read-only.
 */
export function buildServer({
  sql,
  gate,
  replica = null,
  clock,
  access,
  log,
  queueReachable,
  queues,
  allowedHosts,
  budgets,
  recorder,
  watched,
  upstreams,
  counts,
  rewards,
  site,
  recording,
  stallTimeoutMs = STALL_TIMEOUT_MS,
  connections = DEFAULT_CONNECTION_LIMITS,
  connectionLimitReached = () => {},
}: ServerContext): FastifyInstance {
  // For a long list the query may exceed the timeout of a request: the next request gets the cached result.
  const made = memoizeWithTtl(() => statusOf(sql, budgets), proportionalTtl(CACHE_TTL_MS));
  const status = () => withQueryTimeout(made());
  const needed = memoizeWithTtl(
    async () => demands(await forecast(sql, watched.filter(isMetered), clock()), { upstreams }),
    proportionalTtl(SLOW_CACHE_TTL_MS),
  );
  const queueAnswers = memoizeWithTtl(async () => queueReachable(), 0);
  const ready = memoizeWithTtl(async () => {
    const [schema, queue] = await Promise.all([
      withQueryTimeout(schemaProblem(sql)).catch(
        (error: unknown) => `the database: ${toErrorMessage(error)}`,
      ),
      withQueryTimeout(queueAnswers()).then(
        () => null,
        (error: unknown) => `the queue: ${toErrorMessage(error)}`,
      ),
    ]);
    return [schema, queue].filter((problem) => problem !== null);
  }, CACHE_TTL_MS);
  const assets = readAssets();
  const server = Fastify({
    logger: false,
    forceCloseConnections: true,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: stallTimeoutMs,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: HEADERS_TIMEOUT_MS },
    // A path segment may be as long as the whole request head, so that the page for 404 is served instead of
    // the router's error.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEAD_BYTES },
    // A request with an invalid URL reaches no route and no hook.
    frameworkErrors: ({ message, statusCode = 400 }, request, reply) => {
      const { type, body } = refusalOf(request, refusedRequest(statusCode, message));
      reply.hijack();
      reply.raw.writeHead(statusCode, { ...HEADERS, 'content-type': type }).end(body);
    },
  });
  limitConnections(server, connections, connectionLimitReached);
  sendHeaders(server);
  const pace = throttleRequests(server, recording);
  // With two names, a proxy in front may use the other one.
  server.addHook('onRequest', async ({ raw: { rawHeaders } }, reply) => {
    if (rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length < 2) return;
    await reply.code(400).send({ error: 'the request has several Host headers' });
  });
  server.addHook('onRequest', async ({ headers: { host }, socket: { localAddress } }, reply) => {
    if (isOwnName(host, localAddress, allowedHosts)) return;
    const error = `this server does not answer to the name "${host}": add it to server.allowedHosts in recorder.yaml`;
    await reply.code(421).send({ error });
  });
  server.addHook('onRequest', async ({ url, headers }, reply) => {
    if (!isCrossSiteRequest(url.split('?', 1)[0] ?? url, headers)) return;
    await reply
      .code(403)
      .send({ error: 'the request came from a page of another site: open this page directly' });
  });
  refuseFuture(server, clock);
  const context = {
    clock,
    status,
    demands: () => withQueryTimeout(needed()),
    disk: memoizeWithTtl(() => withQueryTimeout(diskUse(sql, recorder.directory)), SLOW_CACHE_TTL_MS),
    queues: queuesOf(queues),
    recorder,
    nodes: memoizeWithTtl(
      () => gate.read((reads) => nodesStatus(reads, site, clock()), AbortSignal.timeout(NODES_TIMEOUT_MS)),
      proportionalTtl(NODES_CACHE_TTL_MS),
    ),
    validators: memoizeWithTtl(
      () => gate.read((reads) => readMyValidators(reads, rewards), AbortSignal.timeout(NODES_TIMEOUT_MS)),
      proportionalTtl(VALIDATORS_CACHE_TTL_MS),
    ),
    site,
  };
  const refusalOf = servePages(server, { gate, replica, context, access, assets, log });
  serveQueryData(server, gate);
  serveApi(server, { gate, pace, clock, status, log });
  serveBadges(server, context.nodes);
  serveAssets(server, assets);
  const { logo } = site;
  if (logo)
    // Opened directly, an SVG is a document: it may load and run nothing.
    server.get('/status.logo', async (_request, reply) =>
      reply
        .type(logo.type)
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        .send(logo.body),
    );
  server.get('/health', () => ({ status: 'up' }));
  server.get('/ready', async (_request, reply) => {
    const problems = await ready();
    return reply.code(problems.length === 0 ? 200 : 503).send({ ready: problems.length === 0, problems });
  });
  // A scrape also succeeds while the database is unavailable, and reports that.
  const metrics = metricsOf(
    { sql, status, disk: context.disk, budgets, upstreams, counts },
    withQueryTimeout,
    log,
  );
  server.get('/metrics', async (_request, reply) => reply.type(PROMETHEUS_TEXT).send(await metrics.read()));
  server.get('/api/status', async (_request, reply) =>
    status().catch((error: unknown) =>
      reply.code(503).send({ error: `the database: ${toErrorMessage(error)}` }),
    ),
  );
  return server;
}

/**
 * Wraps the queues for pages: a query that times out is reported as unavailable, and is not repeated before
 * it has answered.
 */
function queuesOf(view: QueuesView): QueuesView {
  const answered = <T>(answer: Promise<T>) =>
    withQueryTimeout(answer).catch((error: unknown) => {
      throw new QueueUnavailableError(toErrorMessage(error));
    });
  const oneLook = memoizeWithTtl(() => view.look(), 0);
  const look = memoizeWithTtl(() => answered(oneLook()), CACHE_TTL_MS);
  return {
    look,
    jobs: async (...asked) => {
      await look();
      return answered(view.jobs(...asked));
    },
  };
}

async function withQueryTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DOMException(`no answer within ${QUERY_TIMEOUT_MS} ms`, 'TimeoutError')),
      QUERY_TIMEOUT_MS,
    );
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
