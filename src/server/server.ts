import Fastify, { type FastifyInstance } from 'fastify';
import type postgres from 'postgres';
import { Registry } from 'prom-client';
import type { BudgetKey } from '../db/budget-key.ts';
import { schemaProblem } from '../db/migrate.ts';
import { messageOf } from '../errors.ts';
import { statusOf } from '../reports/status.ts';
import { isOwnName } from './own-names.ts';
import { processMetrics, recordingMetrics } from './prometheus.ts';
import { recently } from './recently.ts';

/** What the server needs. */
export interface ServerContext {
  /** Connections of its own: requests take none from the recording. */
  readonly sql: postgres.Sql;
  /** Rejects when the queue cannot be reached. */
  readonly queueReachable: () => Promise<unknown>;
  /** Host names under which it is reached, beside localhost and the address at which a request arrives. */
  readonly names: readonly string[];
  /** The allowances that are shown. */
  readonly budgets: readonly BudgetKey[];
}

const PATIENCE = 3_000;
/** The database is asked at most once in this time, ms, however many requests come. */
const LASTING = 1_000;

/** The HTTP server: `/health`, `/ready`, `/metrics`, `/api/status`. Read-only. */
export function buildServer({ sql, queueReachable, names, budgets }: ServerContext): FastifyInstance {
  const own = processMetrics();
  const status = recently(() => within(statusOf(sql, budgets)), LASTING);
  const ready = recently(async () => {
    const [schema, queue] = await Promise.all([
      within(schemaProblem(sql)).catch((error: unknown) => `the database: ${messageOf(error)}`),
      within(queueReachable()).then(
        () => null,
        (error: unknown) => `the queue: ${messageOf(error)}`,
      ),
    ]);
    return [schema, queue].filter((problem) => problem !== null);
  }, LASTING);
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.addHook('onRequest', async ({ headers: { host }, socket: { localAddress } }, reply) => {
    if (isOwnName(host, localAddress, names)) return;
    const error = `this server does not answer to the name "${host}": add it to server.names in recorder.yaml`;
    await reply.code(421).send({ error });
  });
  server.get('/health', () => ({ status: 'up' }));
  server.get('/ready', async (_request, reply) => {
    const problems = await ready();
    return reply.code(problems.length === 0 ? 200 : 503).send({ ready: problems.length === 0, problems });
  });
  server.get('/metrics', async (_request, reply) => {
    // A scrape also answers while the database is away: it says so.
    const all = Registry.merge([own, recordingMetrics(await status().catch(() => null))]);
    return reply.type(all.contentType).send(await all.metrics());
  });
  server.get('/api/status', async (_request, reply) =>
    status().catch((error: unknown) => reply.code(503).send({ error: `the database: ${messageOf(error)}` })),
  );
  return server;
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
