import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Servers, serversOf } from './servers.ts';
import { sessionOptions, sessionSettings } from './session.ts';

/** A failed connection is reported after this pause, ms: BullMQ's workers try again at once, thousands of times a minute. */
const PAUSE = 2_000;
/** Connections: one for each of the two workers to listen on, the others for the statements of queues and workers. */
const MOST = 6;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

type Answered = (error: Error | null) => void;

/**
 * A connection of `pg` whose loss never ends the process. BullMQ opens connections without a listener for `error`, and
 * Node throws such an event as an uncaught error. Statements on the connection still fail.
 */
class GuardedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Connections to the one of several servers that takes writes; `pg` itself knows of one server only. */
function clientOf(servers: Servers): typeof GuardedClient {
  return class extends GuardedClient {
    readonly #socket: Socket;

    constructor(config?: pg.ClientConfig) {
      const socket = new Socket();
      super({ ...config, stream: () => socket });
      this.#socket = socket;
    }

    override connect(): Promise<pg.Client>;
    override connect(connected: Answered): void;
    override connect(connected?: Answered): Promise<pg.Client> | undefined {
      const begun = this.#begin();
      if (!connected) return begun;
      begun.then(() => connected(null), connected);
      return undefined;
    }

    async #begin(): Promise<pg.Client> {
      // Where it connects to, and the name that is compared with the certificate.
      Object.assign(this, await servers.primary());
      servers.hold(this.#socket);
      return super.connect();
    }
  };
}

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
 * The connections of a queue in PostgreSQL, shared by all queues and workers of the process.
 * @param schema where BullMQ's tables are
 * @param onError called when a connection breaks while it is not in use
 */
export function openQueuePool(
  connectionString: string,
  schema: string,
  onError: (error: Error) => void,
): pg.Pool {
  const servers = serversOf(connectionString);
  const pool = new QueuePool({
    connectionString: servers.url,
    options: sessionOptions(sessionSettings('queue', schema)),
    max: MOST,
    Client: servers.several ? clientOf(servers) : GuardedClient,
    // Without it a statement on a dead connection would wait for ever.
    query_timeout: 20_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // Every queue and worker adds a listener, and so does each attempt to start one. This is no leak.
  pool.setMaxListeners(0);
  pool.on('error', onError);
  return pool;
}
