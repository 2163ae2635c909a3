import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { Division, type SharesSeen } from './division.ts';
import { holdersOf, sharesLeft } from './ledger.ts';
import { Seldom } from './log-throttle.ts';
import { Prober } from './prober.ts';
import type { ProberContext, ProbeTarget } from './prober-context.ts';

const ASK_AGAIN = 2_000;
const TELL_EVERY = 60_000;

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
  await new Keeping(context).run(signal);
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

class Keeping {
  readonly #context: SharesContext;
  readonly #division: Division;
  readonly #failed: Seldom;
  readonly #running = new Map<string, Running>();
  #standsBy = false;
  #woken = new AbortController();

  constructor(context: SharesContext) {
    this.#context = context;
    this.#division = new Division(context.worker);
    this.#failed = new Seldom(context.prober.steady, TELL_EVERY);
  }

  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#woken.abort();
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      this.#woken = new AbortController();
      await this.#round().catch((error: unknown) => {
        if (this.#failed.mayTell())
          this.#context.prober.log.warn({ cause: messageOf(error) }, 'the health ledger could not be opened');
      });
      if (!signal.aborted) await delay(ASK_AGAIN, undefined, { signal: this.#woken.signal }).catch(() => {});
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

  async #look(): Promise<SharesSeen> {
    const { prober, shares, workers } = this.#context;
    const [processes, holders] = await Promise.all([workers(), holdersOf(prober.sql, [...shares.keys()])]);
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
    prober.log.info({ observer: share, probes: targets.length }, 'watching began');
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
    for (const share of await sharesLeft(prober.sql, [...shares.keys()])) {
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
