import type { FastifyInstance } from 'fastify';
import type { Logger as Log } from 'pino';
import { toErrorMessage } from '../lib/errors.ts';
import { type CachedReads, withQueryTimeout } from './cached-reads.ts';
import { metricsOf, PROMETHEUS_TEXT } from './metrics/metrics.ts';
import type { ServerContext } from './server-context.ts';

/** Serves `/health`, `/ready`, `/metrics` and `/api/status`. */
export function serveMonitoring(
  server: FastifyInstance,
  { sql, budgets, upstreams, counts }: ServerContext,
  { status, disk, problems }: CachedReads,
  log: Pick<Log, 'warn'>,
): void {
  server.get('/health', () => ({ status: 'up' }));
  server.get('/ready', async (_request, reply) => {
    const found = await problems();
    return reply.code(found.length === 0 ? 200 : 503).send({ ready: found.length === 0, problems: found });
  });
  // A scrape also succeeds while the database is unavailable; the response then contains that state.
  const metrics = metricsOf({ sql, status, disk, budgets, upstreams, counts }, withQueryTimeout, log);
  server.get('/metrics', async (_request, reply) => reply.type(PROMETHEUS_TEXT).send(await metrics.read()));
  server.get('/api/status', async (_request, reply) =>
    status().catch((error: unknown) =>
      reply.code(503).send({ error: `the database: ${toErrorMessage(error)}` }),
    ),
  );
}
