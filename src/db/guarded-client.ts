import { Socket } from 'node:net';
import pg from 'pg';
import type { Servers } from './servers.ts';

type ConnectCallback = (error: Error | null) => void;

/**
 * Idle time before keepalive probes start, in ms. The system then probes each second, and closes the
 * connection after ten unanswered probes. By default, the system starts probes after two hours, so that until
 * then only a new statement would detect the loss.
 */
const KEEPALIVE_IDLE_MS = 10_000;

/** Constructor of a `pg` client. */
type ClientClass = new (config?: pg.ClientConfig) => pg.Client;

/**
 * A `pg` client with the settings of the URL. The client gets every setting that the driver would otherwise
 * read from the environment. Losing the connection never ends the process: BullMQ opens connections without a
 * listener for `error`, and Node throws such an event as an uncaught error. Statements on the connection still
 * fail.
 */
class GuardedClient extends pg.Client {
  constructor({ settings, tls }: Servers, config: pg.ClientConfig = {}) {
    super({
      ...config,
      ...settings.places[0],
      user: settings.user,
      // For an empty password the driver would read the environment and a password file.
      password: () => settings.password,
      database: settings.database,
      ...tls,
      // If a setting is given twice, PostgreSQL uses the last one.
      options: `${settings.options} ${config.options ?? ''}`.trim(),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_IDLE_MS,
    });
    this.on('error', () => {});
  }
}

/**
 * Returns a class of clients that connect to the one of several servers that accepts writes. `pg` itself
 * supports one server only.
 */
function clientOf(servers: Servers): ClientClass {
  return class extends GuardedClient {
    readonly #socket: Socket;

    constructor(config?: pg.ClientConfig) {
      const socket = new Socket();
      super(servers, { ...config, stream: () => socket });
      this.#socket = socket;
    }

    override connect(): Promise<pg.Client>;
    override connect(connected: ConnectCallback): void;
    override connect(connected?: ConnectCallback): Promise<pg.Client> | undefined {
      const begun = this.#begin();
      if (!connected) return begun;
      begun.then(() => connected(null), connected);
      return undefined;
    }

    async #begin(): Promise<pg.Client> {
      // Sets the host to connect to, and the name that the certificate must have.
      Object.assign(this, await servers.primary());
      servers.hold(this.#socket);
      return super.connect();
    }
  };
}

/**
 * Returns a class of `pg` clients for the server that accepts writes. A lost connection fails its statements
 * and nothing else.
 */
export const guardedClient = (servers: Servers): ClientClass =>
  servers.settings.places.length > 1
    ? clientOf(servers)
    : class extends GuardedClient {
        constructor(config?: pg.ClientConfig) {
          super(servers, config);
        }
      };
