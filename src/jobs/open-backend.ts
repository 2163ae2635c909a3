import type { Logger as Log } from 'pino';
import { toErrorMessage } from '../lib/errors.ts';
import type { OnError, QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';
import type { DatabaseIdentity } from './redis-owner.ts';

/**
 * Opens the backend of the queue. The function waits for PostgreSQL, but not for Redis.
 * @param where `redisUrl`: undefined for a queue in PostgreSQL. `identity`: returns the identity of the
 * database; if undefined, a queue in Redis has no owner.
 * @param signal ends the wait
 * @param isTraced traces jobs; the trace of the producer continues in the consumer
 * @throws an error of the database or of BullMQ if it rejects the connection or the signal aborts first
 */
export async function openBackend(
  where: { redisUrl: string | undefined; databaseUrl: string; identity?: DatabaseIdentity },
  log: Log,
  signal: AbortSignal,
  isTraced = false,
): Promise<QueueBackend> {
  const quiet = throttleErrorLog(log);
  const telemetry = isTraced ? (await import('./job-traces.ts')).jobTraces() : undefined;
  const { redisUrl, databaseUrl, identity = async () => null } = where;
  return redisUrl
    ? redisBackend(redisUrl, quiet, identity, telemetry)
    : postgresBackend(databaseUrl, quiet, signal, telemetry);
}

const LOG_INTERVAL_MS = 30_000;

/** Prefix of the BullMQ error that a job in progress has lost its lock. The error has no type and no code. */
const LOST_LOCK_MESSAGE = 'could not renew lock for job ';

/**
 * Returns a callback that logs each cause at most once in 30 s, because one outage can cause tens of
 * thousands of error events.
 */
function throttleErrorLog(log: Log): OnError {
  const loggedAt = new Map<string, number>();
  return (error) => {
    if (error.message.startsWith(LOST_LOCK_MESSAGE)) {
      // The job ended during the renewal of its lock, or the queue gave it to another worker. In the latter
      // case, the lease determines which worker records.
      log.debug({ job: error.message.slice(LOST_LOCK_MESSAGE.length) }, 'a job in progress lost its lock');
      return;
    }
    const cause = toErrorMessage(error).slice(0, 120);
    const now = Date.now();
    if (now - (loggedAt.get(cause) ?? 0) < LOG_INTERVAL_MS) return;
    if (loggedAt.size > 100) loggedAt.clear();
    loggedAt.set(cause, now);
    log.warn({ cause }, 'the queue reported an error');
  };
}
