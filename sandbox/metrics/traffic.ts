import type { EvmChain } from '../network/evm-chains.ts';
import { between, derive, unit } from '../random.ts';
import { DAY, HOUR } from './calendar.ts';
import { SETTLED_AFTER, share } from './refresh.ts';

/**
 * Activity of a chain in a window, as counted at a refresh. `peak` is the number of transactions of the
 * busiest hour.
 */
export interface Counts {
  readonly transactions: number;
  readonly gas: number;
  readonly contracts: number;
  readonly peak: number;
}

export const NOTHING: Counts = { transactions: 0, gas: 0, contracts: 0, peak: 0 };

/** Adds the counts of two windows. */
function sum(a: Counts, b: Counts): Counts {
  return {
    transactions: a.transactions + b.transactions,
    gas: a.gas + b.gas,
    contracts: a.contracts + b.contracts,
    peak: Math.max(a.peak, b.peak),
  };
}

/** Returns the activity of each UTC hour, relative to the mean. */
function rhythm(hour: number): number {
  const ofDay = 1 + 0.35 * Math.sin(((hour / HOUR - 9) % 24) * (Math.PI / 12));
  const weekday = Math.floor(hour / DAY + 3) % 7;
  return ofDay * (weekday >= 5 ? 0.72 : 1.08);
}

/**
 * The hourly counts of one chain. At every refresh, the counts of days, weeks and months are sums of the
 * hourly counts.
 */
export class Traffic {
  readonly chain: EvmChain;
  readonly seed: number;
  readonly #days = new Map<number, Counts>();

  constructor(seed: number, chain: EvmChain) {
    this.chain = chain;
    this.seed = derive(seed, `traffic ${chain.chainId}`);
  }

  /** The first hour of the chain (Unix seconds). */
  get firstHour(): number {
    return Math.floor(this.chain.launchSec / HOUR) * HOUR;
  }

  /** Returns the counts of an hour at a refresh. */
  hour(hour: number, refresh: number): Counts {
    if (hour < this.firstHour || hour >= refresh || this.chain.perHour === 0) return NOTHING;
    const seed = this.seed;
    const weeks = Math.floor((hour - this.firstHour) / (7 * DAY));
    const noise = 0.6 + 0.8 * unit(seed, hour, 21);
    const burst = unit(seed, hour, 22) < 0.01 ? 3.5 : 1;
    const final =
      this.chain.perHour *
      rhythm(hour) *
      noise *
      burst *
      (0.8 + 0.4 * unit(seed, weeks, 23)) *
      1.004 ** weeks;
    const settled = Math.floor(final + unit(seed, hour, 24));
    const transactions = Math.floor(settled * share(seed, hour, refresh - hour));
    const contracts = Math.floor(
      transactions * 0.004 + unit(seed, hour, 25) * Math.min(1, transactions / 20),
    );
    return {
      transactions,
      gas: transactions * between(seed, 61_000, 139_000, hour, 26),
      contracts,
      peak: transactions,
    };
  }

  /** Returns the counts of a UTC day at a refresh. */
  day(day: number, refresh: number): Counts {
    const settled = refresh - day - DAY >= SETTLED_AFTER;
    const cached = settled ? this.#days.get(day) : undefined;
    if (cached !== undefined) return cached;
    let counts = NOTHING;
    for (let hour = day; hour < day + DAY; hour += HOUR) counts = sum(counts, this.hour(hour, refresh));
    if (settled) this.#days.set(day, counts);
    return counts;
  }

  /** Returns the counts of the days of a window: inclusive start, exclusive end. */
  days(from: number, to: number, refresh: number): Counts {
    let counts = NOTHING;
    const last = Math.min(to, refresh);
    for (let day = Math.max(from, Math.floor(this.firstHour / DAY) * DAY); day < last; day += DAY) {
      counts = sum(counts, this.day(day, refresh));
    }
    return counts;
  }
}
