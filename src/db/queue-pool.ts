import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionConfig, sessionSettings } from './session.ts';

/**
 * Delay before a failed connection is reported, in ms. BullMQ's workers retry at once, thousands of times a
 * minute.
 */
const RETRY_DELAY_MS = 2_000;
/**
 * Maximum number of connections. Each of the two workers listens on one connection; the other connections run
 * the statements of queues and workers.
 */
const MAX_CONNECTIONS = 6;
/** Timeout of a statement without an answer, in ms. */
const STATEMENT_TIMEOUT_MS = 20_000;

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

class QueuePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: ConnectCallback): void;
  override connect(connected?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (!connected)
      return super.connect().catch(async (error: unknown) => {
        await delay(RETRY_DELAY_MS);
        throw error;
      });
    super.connect((error, client, done) => {
      if (error) setTimeout(connected, RETRY_DELAY_MS, error, client, done);
      else connected(error, client, done);
    });
    return undefined;
  }
}

/**
 * Closes a connection that does not respond to a statement. A connection that only listens may be silent without
 * limit. The driver's own `query_timeout` gives up the statement and keeps the connection. Later statements
 * on it are never sent, and a worker that was about to listen takes no more jobs.
 */
function closeUnanswered({ connection }: pg.PoolClient, silence: number): void {
  const { stream } = connection;
  if (!(stream instanceof Socket)) return;
  let answered = stream.bytesWritten;
  // Runs before the driver's listener, which then sends the next statement.
  connection.prependListener('readyForQuery', () => {
    answered = stream.bytesWritten;
  });
  stream.setTimeout(silence, () => {
    if (stream.bytesWritten > answered) stream.destroy();
  });
}

/**
 * Opens the connections of a queue in PostgreSQL, shared by all queues and workers of the process.
 * @param schema the schema of BullMQ's tables
 * @param onError called if an idle connection breaks
 * @param silence timeout of a statement without an answer, in ms; then its connection is closed
 */
export function openQueuePool(
  url: string,
  schema: string,
  onError: (error: Error) => void,
  silence = STATEMENT_TIMEOUT_MS,
): pg.Pool {
  const servers = serversOf(url);
  const pool = new QueuePool({
    ...sessionConfig(sessionSettings('queue', `${schema},pg_catalog`)),
    max: MAX_CONNECTIONS,
    Client: guardedClient(servers),
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker adds a listener, and so does each attempt to start a queue or worker. This is no
  // leak.
  pool.setMaxListeners(0);
  pool.on('error', onError);
  pool.on('connect', (client) => closeUnanswered(client, silence));
  return pool;
}
