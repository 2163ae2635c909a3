import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { Division, type SharesSeen } from './division.ts';
import { holdersOf, sharesLeft } from './ledger.ts';
import { Seldom } from './log-throttle.ts';
import { Prober } from './prober.ts';
import type { ProberContext, ProbeTarget } from './prober-context.ts';

const ASK_AGAIN = 2_000;
const TELL_EVERY = 60_000;

/** What a process needs to watch its part of an observer's shares. */
export interface SharesContext {
  /** What all its probers have in common. */
  readonly prober: Omit<ProberContext, 'observer' | 'holder' | 'targets'>;
  /** What belongs to each share, by its name. */
  readonly shares: ReadonlyMap<string, readonly ProbeTarget[]>;
  /** The name of this process among those of its recorder. */
  readonly worker: string;
  /** Tells this shift of the process from those before; without a slash. */
  readonly shift: string;
  /** The names of the live processes that may watch. */
  workers(): Promise<readonly string[]>;
}

/** Keeps the ledgers of those shares that fall to this process until the signal comes. @returns when all is written */
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
        // Who lost it may have it again at once.
        if (!stop.signal.aborted) this.#woken.abort();
      });
    this.#running.set(share, { stop, ended });
  }

  /** Ends what shares of an earlier division left open: their nodes belong to other shares now. */
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
