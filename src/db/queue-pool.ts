import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionConfig, sessionSettings } from './session.ts';

/** A failed connection is reported after this pause, ms: BullMQ's workers try again at once, thousands of times a minute. */
const PAUSE = 2_000;
/** Connections: one for each of the two workers to listen on, the others for the statements of queues and workers. */
const MOST = 6;
/** A statement without an answer for so long has lost its server, ms. */
const SILENCE = 20_000;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

class QueuePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (!connected)
      return super.connect().catch(async (error: unknown) => {
        await delay(PAUSE);
        throw error;
      });
    super.connect((error, client, done) => {
      if (error) setTimeout(connected, PAUSE, error, client, done);
      else connected(error, client, done);
    });
    return undefined;
  }
}

/**
 * Cuts a connection that gives a statement no answer. One that only listens may be silent as long as it likes. The driver's own
 * `query_timeout` gives up the statement and keeps the connection: nothing that is asked on it then is ever sent, and a worker
 * that wanted to listen takes no job any more.
 */
function cutUnanswered({ connection }: pg.PoolClient, silence: number): void {
  const { stream } = connection;
  if (!(stream instanceof Socket)) return;
  let answered = stream.bytesWritten;
  // Before the driver, which then sends the next statement.
  connection.prependListener('readyForQuery', () => {
    answered = stream.bytesWritten;
  });
  stream.setTimeout(silence, () => {
    if (stream.bytesWritten > answered) stream.destroy();
  });
}

/**
 * The connections of a queue in PostgreSQL, shared by all queues and workers of the process.
 * @param schema where BullMQ's tables are
 * @param onError called when a connection breaks while it is not in use
 * @param silence how long a statement may have no answer, ms; then its connection is cut
 */
export function openQueuePool(
  url: string,
  schema: string,
  onError: (error: Error) => void,
  silence = SILENCE,
): pg.Pool {
  const servers = serversOf(url);
  const pool = new QueuePool({
    ...sessionConfig(sessionSettings('queue', `${schema},pg_catalog`)),
    max: MOST,
    Client: guardedClient(servers),
    connectionTimeoutMillis: 10_000,
  });
  // Every queue and worker adds a listener, and so does each attempt to start one. This is no leak.
  pool.setMaxListeners(0);
  pool.on('error', onError);
  pool.on('connect', (client) => cutUnanswered(client, silence));
  return pool;
}
