import { setTimeout as delay } from 'node:timers/promises';
import { toErrorMessage } from '../lib/errors.ts';
import { ShareBalancer, type ShareSnapshot } from './division.ts';
import { findAbandonedObservers, queryHolders } from './ledger.ts';
import { LogThrottle } from './log-throttle.ts';
import { Prober } from './prober.ts';
import type { ProberContext, ProbeTarget } from './prober-context.ts';

const ROUND_INTERVAL_MS = 2_000;
const LOG_INTERVAL_MS = 60_000;

/** Dependencies of a process that probes its part of the shares of an observer. */
export interface SharesContext {
  /** Context that all probers of this process share. */
  readonly prober: Omit<ProberContext, 'observer' | 'holder' | 'targets'>;
  /** Probes of each share, by the name of the share. */
  readonly shares: ReadonlyMap<string, readonly ProbeTarget[]>;
  /** Name of this process, unique in its recorder. */
  readonly worker: string;
  /**
   * Identifier that distinguishes this session of the process from earlier ones. The identifier must not
   * contain a slash.
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
  #isStandby = false;
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
    const { acquire, release } = this.#division.decide(await this.#snapshot(), steady());
    for (const share of release) {
      log.info({ observer: share }, 'another process watches fewer shares: this share is released');
      this.#running.get(share)?.stop.abort();
    }
    for (const share of acquire) if (!this.#running.has(share)) await this.#acquire(share);
    await this.#endAbandoned();
    const isStandby = this.#running.size === 0;
    if (isStandby && !this.#isStandby)
      log.info({ observers: [...shares.keys()] }, 'another process watches; this process is on standby');
    this.#isStandby = isStandby;
  }

  async #snapshot(): Promise<ShareSnapshot> {
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

  async #acquire(share: string): Promise<void> {
    const { prober, shares } = this.#context;
    const targets = shares.get(share) ?? [];
    const acquired = await this.#acquireProber(share, targets);
    if (!acquired) return;
    prober.log.info({ observer: share, probes: targets.length }, 'watching started');
    const stop = new AbortController();
    const ended = acquired
      .run(stop.signal)
      .catch((error: unknown) => prober.log.warn({ observer: share, err: error }, 'watching failed'))
      .finally(() => {
        this.#running.delete(share);
        // The process may acquire a lost share again immediately.
        if (!stop.signal.aborted) this.#woken.abort();
      });
    this.#running.set(share, { stop, ended });
  }

  /** Ends open intervals of observers that have no probes any more. */
  async #endAbandoned(): Promise<void> {
    const { prober, shares } = this.#context;
    for (const observer of await findAbandonedObservers(prober.sql, [...shares.keys()])) {
      const acquired = await this.#acquireProber(observer, []);
      await acquired?.once(this.#woken.signal);
      if (acquired)
        prober.log.info({ observer }, 'the observer has no probes any more: its intervals were ended');
    }
  }

  #acquireProber(observer: string, targets: readonly ProbeTarget[]): Promise<Prober | null> {
    const { prober, worker, shift } = this.#context;
    return Prober.acquire({ ...prober, observer, targets, holder: `${worker}/${shift}` });
  }
}
