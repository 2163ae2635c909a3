import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../config/environment.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../telemetry/log.ts';

/** Where systemd-notify is, on the systems that have it. */
const PATH = '/usr/bin:/bin:/run/current-system/sw/bin';
/** The part of the watchdog's time after which the next sign of life is given. */
const PART = 1 / 4;

/**
 * Tells systemd how the service fares (sd_notify), where systemd asks for it. Node.js has no datagram sockets of the local
 * machine, so that its own systemd-notify tells it; the unit needs NotifyAccess=all for that.
 */
export class ServiceManager {
  readonly #socket: string | undefined;
  readonly #patience: number;
  readonly #log: Pick<Log, 'warn'>;
  #lastSign = Number.NEGATIVE_INFINITY;
  #warned = false;
  #telling: Promise<void> = Promise.resolve();

  constructor(
    { notifySocket, watchdog }: Pick<Environment, 'notifySocket' | 'watchdog'>,
    log: Pick<Log, 'warn'>,
  ) {
    this.#socket = notifySocket;
    this.#patience = watchdog === undefined ? Number.POSITIVE_INFINITY : watchdog * PART;
    this.#log = log;
  }

  /** Everything runs. */
  ready(): Promise<void> {
    this.#lastSign = performance.now();
    return this.#tell('READY=1', 'STATUS=recording');
  }

  /** The configuration is taken over: {@link ready} follows. */
  reloading(): Promise<void> {
    return this.#tell('RELOADING=1', 'STATUS=taking over another configuration');
  }

  stopping(): Promise<void> {
    return this.#tell('STOPPING=1', 'STATUS=stopping');
  }

  /** A round of work ended, well or not: the process works. It has no timer of its own, so that what hangs gives no sign. */
  alive(): void {
    if (performance.now() - this.#lastSign < this.#patience || this.#patience === Number.POSITIVE_INFINITY)
      return;
    this.#lastSign = performance.now();
    void this.#tell('WATCHDOG=1');
  }

  /** One after the other, so that they arrive in order. */
  #tell(...said: readonly string[]): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.resolve();
    this.#telling = this.#telling.then(() => this.#send(socket, said));
    return this.#telling;
  }

  async #send(socket: string, said: readonly string[]): Promise<void> {
    try {
      const child = spawn('systemd-notify', said, { env: { PATH, NOTIFY_SOCKET: socket }, stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`systemd-notify ended with ${code}`);
    } catch (error) {
      if (!this.#warned) this.#log.warn({ cause: messageOf(error) }, 'systemd cannot be told how it fares');
      this.#warned = true;
    }
  }
}
