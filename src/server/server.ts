import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import { rewardParameters } from '../reporting/reports/rewards.ts';
import { serveApi } from './api/serve.ts';
import { readAssets, serveAssets } from './assets.ts';
import { serveBadges } from './badge.tsx';
import { cachedReads } from './cached-reads.ts';
import { DEFAULT_CONNECTION_LIMITS, limitConnections } from './connections.ts';
import { refuseFuture } from './future-moments.ts';
import { HEADERS, refuseForeignRequests, sendHeaders } from './headers.ts';
import { throttleRequests } from './load-shedding.ts';
import { serveMonitoring } from './monitoring.ts';
import { refusedRequest } from './pages/problems.tsx';
import { MAX_HEAD_BYTES, servePages } from './pages/serve.tsx';
import { serveQueryData } from './query-files.ts';
import type { ServerContext } from './server-context.ts';
import type { StatusSite } from './status-site.ts';

/** Timeout for receiving the headers of a request, in ms. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Timeout for receiving a whole request, in ms. */
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Default timeout of a connection without data, in ms. Every response starts earlier, so a connection that
 * has no data for this long belongs to a client that does not read the response. Without the timeout, such
 * connections would stay open and count towards the limit.
 */
const STALL_TIMEOUT_MS = 120_000;

/**
 * Throws an error for the JSON Schema of a route; no route has one. This function replaces the default
 * compilers of Fastify, because they would load a hundred modules at the start.
 */
const noSchemas = () => {
  throw new Error('the server compiles no JSON Schema: validate the input of a route with zod');
};

/**
 * Builds the HTTP server: `/health`, `/ready`, `/metrics`, `/api/status`, `/api/v1`, and the pages.
 * Read-only.
 */
export function buildServer(context: ServerContext): FastifyInstance {
  const { gate, replica = null, clock, access, log, allowedHosts, recorder, site, recording } = context;
  const { stallTimeoutMs = STALL_TIMEOUT_MS, connections = DEFAULT_CONNECTION_LIMITS } = context;
  const reads = cachedReads(context);
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
  limitConnections(server, connections, context.connectionLimitReached ?? (() => {}));
  sendHeaders(server);
  const pace = throttleRequests(server, recording);
  refuseForeignRequests(server, allowedHosts);
  refuseFuture(server, clock);
  const { status } = reads;
  const refusalOf = servePages(server, {
    gate,
    replica,
    context: { ...reads, clock, recorder, site },
    access,
    assets,
    log,
  });
  serveQueryData(server, gate);
  serveApi(server, { gate, pace, clock, status, log, defaults: rewardParameters(context.rewards) });
  serveBadges(server, reads.nodes);
  serveAssets(server, assets);
  serveLogo(server, site);
  serveMonitoring(server, context, reads, log);
  return server;
}

function serveLogo(server: FastifyInstance, { logo }: StatusSite): void {
  if (!logo) return;
  // An SVG that is opened directly is a document; the policy prevents it from loading or running anything.
  server.get('/status.logo', async (_request, reply) =>
    reply
      .type(logo.type)
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .send(logo.body),
  );
}
