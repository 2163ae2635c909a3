import { toErrorMessage } from '../lib/errors.ts';
import type { Log } from '../telemetry/log.ts';

/**
 * Runner of periodic work. Runs of the same work do not overlap, so that runs do not accumulate while a
 * server is unavailable.
 */
export class IntervalRunner {
  readonly #log: Log;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Runs `work` after `first` ms (default: immediately), then every `milliseconds`. */
  every(milliseconds: number, what: string, work: () => Promise<unknown>, first = 0): void {
    let running = false;
    const alone = async () => {
      if (running) return;
      running = true;
      await this.#guarded(what, work);
      running = false;
    };
    this.#timers.push(setTimeout(alone, first), setInterval(alone, milliseconds));
  }

  once(after: number, what: string, work: () => Promise<unknown>): void {
    this.#timers.push(setTimeout(() => this.#guarded(what, work), after));
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #guarded(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log.warn({ cause: toErrorMessage(error) }, `${what} failed`);
    }
  }
}
