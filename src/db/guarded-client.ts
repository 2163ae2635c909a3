import { Socket } from 'node:net';
import pg from 'pg';
import type { Servers } from './servers.ts';

type Answered = (error: Error | null) => void;

/**
 * After this silence, ms, the system asks each second whether the server is still there, and gives the connection up after ten questions
 * without an answer. By itself it would begin after two hours, and only a statement that is sent notices earlier that nobody is there.
 */
const ASKED_AFTER = 10_000;

/** Makes connections of `pg`. */
type ClientClass = new (config?: pg.ClientConfig) => pg.Client;

/**
 * A connection of `pg` as the URL wants it, given all that the driver would look for in the environment. Its loss never ends the
 * process: BullMQ opens connections without a listener for `error`, and Node throws such an event as an uncaught error. Statements on
 * the connection still fail.
 */
class GuardedClient extends pg.Client {
  constructor({ said, tls }: Servers, config: pg.ClientConfig = {}) {
    super({
      ...config,
      ...said.places[0],
      user: said.user,
      // A text that is empty would be looked for in the environment, and in a file.
      password: () => said.password,
      database: said.database,
      ...tls,
      // Of a setting that is there twice the last one holds.
      options: `${said.options} ${config.options ?? ''}`.trim(),
      keepAlive: true,
      keepAliveInitialDelayMillis: ASKED_AFTER,
    });
    this.on('error', () => {});
  }
}

/** Connections to the one of several servers that takes writes; `pg` itself knows of one server only. */
function clientOf(servers: Servers): ClientClass {
  return class extends GuardedClient {
    readonly #socket: Socket;

    constructor(config?: pg.ClientConfig) {
      const socket = new Socket();
      super(servers, { ...config, stream: () => socket });
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

/** The class of connections of `pg` to the server that takes writes. A lost connection fails its statements, and nothing else. */
export const guardedClient = (servers: Servers): ClientClass =>
  servers.said.places.length > 1
    ? clientOf(servers)
    : class extends GuardedClient {
        constructor(config?: pg.ClientConfig) {
          super(servers, config);
        }
      };
