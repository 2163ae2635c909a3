import { setTimeout as delay } from 'node:timers/promises';
import { toErrorMessage } from '../lib/errors.ts';
import { ShareBalancer, type ShareSnapshot } from './division.ts';
import { findAbandonedShares, queryHolders } from './ledger.ts';
import { LogThrottle } from './log-throttle.ts';
import { Prober } from './prober.ts';
import type { ProberContext, ProbeTarget } from './prober-context.ts';

const ROUND_INTERVAL_MS = 2_000;
const LOG_INTERVAL_MS = 60_000;

/** Dependencies of a process that probes its part of the shares of an observer. */
export interface SharesContext {
  /** Common context of all its probers. */
  readonly prober: Omit<ProberContext, 'observer' | 'holder' | 'targets'>;
  /** Probes of each share, by the name of the share. */
  readonly shares: ReadonlyMap<string, readonly ProbeTarget[]>;
  /** Name of this process, unique in its recorder. */
  readonly worker: string;
  /**
   * Identifier that distinguishes this session of the process from earlier ones. It must not contain a slash.
   */
  readonly shift: string;
  /** Returns the names of the live processes that may probe. */
  workers(): Promise<readonly string[]>;
}

/**
 * Writes the ledgers of the shares of this process until the signal aborts.
 * @returns when everything is written
 */
export async function keepShares(context: SharesContext, signal: AbortSignal): Promise<void> {
  await new ShareKeeper(context).run(signal);
}

interface RunningShare {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

class ShareKeeper {
  readonly #context: SharesContext;
  readonly #division: ShareBalancer;
  readonly #failed: LogThrottle;
  readonly #running = new Map<string, RunningShare>();
  #standsBy = false;
  #woken = new AbortController();

  constructor(context: SharesContext) {
    this.#context = context;
    this.#division = new ShareBalancer(context.worker);
    this.#failed = new LogThrottle(context.prober.steady, LOG_INTERVAL_MS);
  }

  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#woken.abort();
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      this.#woken = new AbortController();
      await this.#round().catch((error: unknown) => {
        if (this.#failed.shouldLog())
          this.#context.prober.log.warn(
            { cause: toErrorMessage(error) },
            'the health ledger could not be opened',
          );
      });
      if (!signal.aborted)
        await delay(ROUND_INTERVAL_MS, undefined, { signal: this.#woken.signal }).catch(() => {});
    }
    signal.removeEventListener('abort', wake);
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ ended }) => ended));
  }

  async #round(): Promise<void> {
    const { prober, shares } = this.#context;
    const { log, steady } = prober;
    const { take, giveUp } = this.#division.decide(await this.#look(), steady());
    for (const share of giveUp) {
      log.info({ observer: share }, 'another process watches fewer shares: this one is given up');
      this.#running.get(share)?.stop.abort();
    }
    for (const share of take) if (!this.#running.has(share)) await this.#take(share);
    await this.#endLeft();
    const standsBy = this.#running.size === 0;
    if (standsBy && !this.#standsBy)
      log.info({ observers: [...shares.keys()] }, 'another process watches; standing by');
    this.#standsBy = standsBy;
  }

  async #look(): Promise<ShareSnapshot> {
    const { prober, shares, workers } = this.#context;
    const [processes, holders] = await Promise.all([workers(), queryHolders(prober.sql, [...shares.keys()])]);
    return {
      processes,
      shares: holders.map(({ observer, holder, free }) => ({
        share: observer,
        process: holder?.slice(0, holder.lastIndexOf('/')) ?? null,
        free,
      })),
    };
  }

  async #take(share: string): Promise<void> {
    const { prober, shares } = this.#context;
    const targets = shares.get(share) ?? [];
    const taken = await this.#begin(share, targets);
    if (!taken) return;
    prober.log.info({ observer: share, probes: targets.length }, 'watching started');
    const stop = new AbortController();
    const ended = taken
      .run(stop.signal)
      .catch((error: unknown) => prober.log.warn({ observer: share, err: error }, 'watching failed'))
      .finally(() => {
        this.#running.delete(share);
        // The process may acquire a lost share again immediately.
        if (!stop.signal.aborted) this.#woken.abort();
      });
    this.#running.set(share, { stop, ended });
  }

  /** Ends open intervals in shares of an earlier division, because their nodes now belong to other shares. */
  async #endLeft(): Promise<void> {
    const { prober, shares } = this.#context;
    for (const share of await findAbandonedShares(prober.sql, [...shares.keys()])) {
      const taken = await this.#begin(share, []);
      await taken?.once(this.#woken.signal);
      if (taken) prober.log.info({ observer: share }, 'no node belongs to this share any more');
    }
  }

  #begin(observer: string, targets: readonly ProbeTarget[]): Promise<Prober | null> {
    const { prober, worker, shift } = this.#context;
    return Prober.begin({ ...prober, observer, targets, holder: `${worker}/${shift}` });
  }
}
