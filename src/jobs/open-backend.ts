import type { Logger as Log } from 'pino';
import { messageOf } from '../lib/errors.ts';
import type { OnError, QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';
import type { DatabaseIdentity } from './redis-owner.ts';

/**
 * Opens the queue's backend. One in PostgreSQL is waited for, one in Redis is not.
 * @param where `redisUrl`: undefined for the queue in PostgreSQL. `identity`: of the database; absent: a queue in Redis is nobody's
 * @param signal ends the waiting
 * @param isTraced jobs are noted in traces, which go on from who adds a job to who does it
 * @throws the database's or BullMQ's error when it refuses the connection, or the signal aborts first
 */
export async function openBackend(
  where: { redisUrl: string | undefined; databaseUrl: string; identity?: DatabaseIdentity },
  log: Log,
  signal: AbortSignal,
  isTraced = false,
): Promise<QueueBackend> {
  const quiet = boundedErrors(log);
  const telemetry = isTraced ? (await import('./job-traces.ts')).jobTraces() : undefined;
  const { redisUrl, databaseUrl, identity = async () => null } = where;
  return redisUrl
    ? redisBackend(redisUrl, quiet, identity, telemetry)
    : postgresBackend(databaseUrl, quiet, signal, telemetry);
}

const QUIET_FOR = 30_000;

/** How BullMQ begins to tell that a job at work has no lock any more; it gives no type and no code. */
const NO_LOCK = 'could not renew lock for job ';

/** Logs each cause at most every 30 s: one outage can make tens of thousands of error events. */
function boundedErrors(log: Log): OnError {
  const saidAt = new Map<string, number>();
  return (error) => {
    if (error.message.startsWith(NO_LOCK)) {
      // It ended while its lock was renewed, or the queue gave it to another worker: then the lease tells which of them records.
      log.debug({ job: error.message.slice(NO_LOCK.length) }, 'a job at work had no lock any more');
      return;
    }
    const cause = messageOf(error).slice(0, 120);
    const now = Date.now();
    if (now - (saidAt.get(cause) ?? 0) < QUIET_FOR) return;
    if (saidAt.size > 100) saidAt.clear();
    saidAt.set(cause, now);
    log.warn({ cause }, 'the queue had an error');
  };
}
