import Fastify, { type FastifyInstance } from 'fastify';
import type postgres from 'postgres';
import { Registry } from 'prom-client';
import { schemaProblem } from '../db/migrate.ts';
import { messageOf } from '../errors.ts';
import { statusOf } from '../reporting/status.ts';
import { processMetrics, recordingMetrics } from './prometheus.ts';

/** What the server looks at. */
export interface ServerContext {
  readonly sql: postgres.Sql;
  /** Rejects when the queue cannot be reached. */
  readonly queueReachable: () => Promise<unknown>;
}

const PATIENCE = 3_000;

/** The HTTP server (contract section 4): `/health`, `/ready`, `/metrics`, `/api/status`. Read-only. */
export function buildServer({ sql, queueReachable }: ServerContext): FastifyInstance {
  const own = processMetrics();
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.get('/health', () => ({ status: 'up' }));
  server.get('/ready', async (_request, reply) => {
    const [schema, queue] = await Promise.all([
      within(schemaProblem(sql)).catch((error: unknown) => `the database: ${messageOf(error)}`),
      within(queueReachable()).then(
        () => null,
        (error: unknown) => `the queue: ${messageOf(error)}`,
      ),
    ]);
    const problems = [schema, queue].filter((problem) => problem !== null);
    return reply.code(problems.length === 0 ? 200 : 503).send({ ready: problems.length === 0, problems });
  });
  server.get('/metrics', async (_request, reply) => {
    const all = Registry.merge([own, await recordingMetrics(sql)]);
    return reply.type(all.contentType).send(await all.metrics());
  });
  server.get('/api/status', () => statusOf(sql));
  return server;
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
