import Fastify, { type FastifyInstance } from 'fastify';
import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import type { BudgetKey } from '../db/budget-key.ts';
import { schemaProblem } from '../db/migrate.ts';
import type { ReadGate } from '../db/read-gate.ts';
import type { Replica } from '../db/replica.ts';
import type { QueuesView } from '../jobs/queue-look.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Watched } from '../recording/active-feed.ts';
import { demands, isMetered } from '../reporting/reports/call-demand.ts';
import { diskUse } from '../reporting/reports/disk.ts';
import { forecast } from '../reporting/reports/forecast.ts';
import { nodesStatus } from '../reporting/reports/nodes/nodes-status.ts';
import { statusOf } from '../reporting/reports/status.ts';
import type { Access } from './access.ts';
import { isOwnName } from './allowed-hosts.ts';
import { serveApi } from './api/serve.ts';
import { readAssets, serveAssets } from './assets.ts';
import { serveBadges } from './badge.tsx';
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS, limitConnections } from './connections.ts';
import { isMadeElsewhere } from './cross-site.ts';
import { refuseFuture } from './future-moments.ts';
import { HEADERS, sendHeaders } from './headers.ts';
import { paceRequests } from './load-shedding.ts';
import { inProportion, recently } from './memoize-with-ttl.ts';
import { metricsOf, PROMETHEUS_TEXT } from './metrics/metrics.ts';
import type { ProcessCounts } from './metrics/process-counts.ts';
import type { RecorderFacts } from './pages/page.ts';
import { refusedRequest } from './pages/problems.tsx';
import { LONGEST_HEAD, servePages } from './pages/serve.tsx';
import { serveQueryData } from './query-data.ts';
import { QueueAway } from './queue-unavailable.ts';
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
  readonly names: readonly string[];
  /** The budgets that are displayed. */
  readonly budgets: readonly BudgetKey[];
  readonly recorder: RecorderFacts;
  /** The feeds of the upstreams, and the configuration of the upstreams. */
  readonly watched: readonly Watched[];
  readonly upstreams: Config['upstreams'];
  /** Counters of this process, for `/metrics`. */
  readonly counts: ProcessCounts;
  /** Configuration of the status page. */
  readonly site: StatusSite;
  /**
   * Returns whether this process records at this moment, so that requests get only a part of its time; null
   * if it never records.
   */
  readonly recording: (() => boolean) | null;
  /** Timeout of a connection without data, in ms. Default: 120 000. */
  readonly standstill?: number;
  readonly connections?: ConnectionLimits;
  /** Called each time the limit of connections is reached. */
  readonly connectionLimitReached?: () => void;
}

/** Timeouts of receiving the headers of a request, and all of it, in ms. */
const HEAD_WITHIN = 15_000;
const WHOLE_WITHIN = 30_000;
/**
 * Default timeout of a connection without data, in ms. Every response starts earlier, so a connection that
 * exceeds it does not read. Without this timeout such connections would remain open and count.
 */
const STANDSTILL = 120_000;

const PATIENCE = 3_000;
/** Cache time of queries of the database, in ms, whatever the number of requests. */
const LASTING = 1_000;

/** Cache time of values that change slowly, in ms. */
const SLOWLY = 60_000;
/** Cache time of the nodes' ledger, in ms, whatever the number of visitors of the status page. */
const NODES_LASTING = 5_000;
const NODES_PATIENCE = 8_000;

/**
 * Refuses JSON Schemas of routes; no route has one. Fastify's default compilers are a hundred modules, which
 * it would load at the start.
 */
const noSchemas = () => {
  throw new Error('the server compiles no JSON Schema: check what a route takes with zod');
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
  names,
  budgets,
  recorder,
  watched,
  upstreams,
  counts,
  site,
  recording,
  standstill = STANDSTILL,
  connections = DEFAULT_CONNECTION_LIMITS,
  connectionLimitReached = () => {},
}: ServerContext): FastifyInstance {
  // For a long list the query may exceed the timeout of a request: the next request gets the cached result.
  const made = recently(() => statusOf(sql, budgets), inProportion(LASTING));
  const status = () => within(made());
  const needed = recently(
    async () => demands(await forecast(sql, watched.filter(isMetered), clock()), { upstreams }),
    inProportion(SLOWLY),
  );
  const queueAnswers = recently(async () => queueReachable(), 0);
  const ready = recently(async () => {
    const [schema, queue] = await Promise.all([
      within(schemaProblem(sql)).catch((error: unknown) => `the database: ${messageOf(error)}`),
      within(queueAnswers()).then(
        () => null,
        (error: unknown) => `the queue: ${messageOf(error)}`,
      ),
    ]);
    return [schema, queue].filter((problem) => problem !== null);
  }, LASTING);
  const assets = readAssets();
  const server = Fastify({
    logger: false,
    forceCloseConnections: true,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    requestTimeout: WHOLE_WITHIN,
    connectionTimeout: standstill,
    http: { headersTimeout: HEAD_WITHIN, connectionsCheckingInterval: HEAD_WITHIN },
    // A path segment may be as long as the whole request head, so that the page for 404 is served instead of
    // the router's error.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_HEAD },
    // A request with an invalid URL reaches no route and no hook.
    frameworkErrors: ({ message, statusCode = 400 }, request, reply) => {
      const { type, body } = refusalOf(request, refusedRequest(statusCode, message));
      reply.hijack();
      reply.raw.writeHead(statusCode, { ...HEADERS, 'content-type': type }).end(body);
    },
  });
  limitConnections(server, connections, connectionLimitReached);
  sendHeaders(server);
  const pace = paceRequests(server, recording);
  // With two names, a proxy in front may use the other one.
  server.addHook('onRequest', async ({ raw: { rawHeaders } }, reply) => {
    if (rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length < 2) return;
    await reply.code(400).send({ error: 'the request has several Host headers' });
  });
  server.addHook('onRequest', async ({ headers: { host }, socket: { localAddress } }, reply) => {
    if (isOwnName(host, localAddress, names)) return;
    const error = `this server does not answer to the name "${host}": add it to server.names in recorder.yaml`;
    await reply.code(421).send({ error });
  });
  server.addHook('onRequest', async ({ url, headers }, reply) => {
    if (!isMadeElsewhere(url.split('?', 1)[0] ?? url, headers)) return;
    await reply.code(403).send({ error: 'a page of another site asked for this: open it by itself' });
  });
  refuseFuture(server, clock);
  const context = {
    clock,
    status,
    demands: () => within(needed()),
    disk: recently(() => within(diskUse(sql, recorder.directory)), SLOWLY),
    queues: queuesOf(queues),
    recorder,
    nodes: recently(
      () => gate.read((reads) => nodesStatus(reads, site, clock()), AbortSignal.timeout(NODES_PATIENCE)),
      inProportion(NODES_LASTING),
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
  const metrics = metricsOf({ sql, status, disk: context.disk, budgets, upstreams, counts }, within, log);
  server.get('/metrics', async (_request, reply) => reply.type(PROMETHEUS_TEXT).send(await metrics.read()));
  server.get('/api/status', async (_request, reply) =>
    status().catch((error: unknown) => reply.code(503).send({ error: `the database: ${messageOf(error)}` })),
  );
  return server;
}

/**
 * Wraps the queues for pages: a query that times out is reported as unavailable, and is not repeated before
 * it has answered.
 */
function queuesOf(view: QueuesView): QueuesView {
  const answered = <T>(answer: Promise<T>) =>
    within(answer).catch((error: unknown) => {
      throw new QueueAway(messageOf(error));
    });
  const oneLook = recently(() => view.look(), 0);
  const look = recently(() => answered(oneLook()), LASTING);
  return {
    look,
    jobs: async (...asked) => {
      await look();
      return answered(view.jobs(...asked));
    },
  };
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DOMException(`no answer within ${PATIENCE} ms`, 'TimeoutError')),
      PATIENCE,
    );
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
