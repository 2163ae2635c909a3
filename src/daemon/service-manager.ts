import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../config/environment.ts';
import { toErrorMessage } from '../lib/errors.ts';
import type { Log } from '../telemetry/log.ts';

/** Search path for systemd-notify, on the systems that have it. */
const SYSTEMD_NOTIFY_PATH = '/usr/bin:/bin:/run/current-system/sw/bin';
/** Interval of the watchdog signal, as a share of the watchdog timeout. */
const WATCHDOG_SHARE = 1 / 4;

/**
 * Reporter of the state of the service to systemd (sd_notify), if systemd sets a notify socket. Node.js has
 * no Unix datagram sockets, so the program systemd-notify sends the messages, which requires NotifyAccess=all
 * in the unit.
 */
export class ServiceManager {
  readonly #socket: string | undefined;
  readonly #watchdogIntervalMs: number;
  readonly #log: Pick<Log, 'warn'>;
  #lastSignalAt = Number.NEGATIVE_INFINITY;
  #warned = false;
  #pending: Promise<void> = Promise.resolve();

  constructor(
    { notifySocket, watchdog }: Pick<Environment, 'notifySocket' | 'watchdog'>,
    log: Pick<Log, 'warn'>,
  ) {
    this.#socket = notifySocket;
    this.#watchdogIntervalMs = watchdog === undefined ? Number.POSITIVE_INFINITY : watchdog * WATCHDOG_SHARE;
    this.#log = log;
  }

  /** Reports that everything runs. */
  ready(): Promise<void> {
    this.#lastSignalAt = performance.now();
    return this.#notify('READY=1', 'STATUS=recording');
  }

  /** Reports that the configuration is being reloaded; {@link ready} follows. */
  reloading(): Promise<void> {
    return this.#notify('RELOADING=1', 'STATUS=applying a new configuration');
  }

  stopping(): Promise<void> {
    return this.#notify('STOPPING=1', 'STATUS=stopping');
  }

  /**
   * Sends the watchdog signal after a round of work, successful or not. No timer sends this signal, so that a
   * hanging process sends no signal.
   */
  alive(): void {
    if (
      performance.now() - this.#lastSignalAt < this.#watchdogIntervalMs ||
      this.#watchdogIntervalMs === Number.POSITIVE_INFINITY
    )
      return;
    this.#lastSignalAt = performance.now();
    void this.#notify('WATCHDOG=1');
  }

  /** Sends messages sequentially, so that they arrive in order. */
  #notify(...states: readonly string[]): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.resolve();
    this.#pending = this.#pending.then(() => this.#send(socket, states));
    return this.#pending;
  }

  async #send(socket: string, states: readonly string[]): Promise<void> {
    try {
      const child = spawn('systemd-notify', states, {
        env: { PATH: SYSTEMD_NOTIFY_PATH, NOTIFY_SOCKET: socket },
        stdio: 'ignore',
      });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`systemd-notify exited with code ${code}`);
    } catch (error) {
      if (!this.#warned) this.#log.warn({ cause: toErrorMessage(error) }, 'systemd cannot be notified');
      this.#warned = true;
    }
  }
}
