import { unit } from '../random.ts';
import { DAY, HOUR, type Interval, nextWindow, windowStart } from './calendar.ts';
import { METRICS, type Metric } from './names.ts';
import { isVanished, SETTLED_AFTER } from './refresh.ts';
import { type Counts, NOTHING, type Traffic } from './traffic.ts';

/** Rounds a value to a number of decimals. */
export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/**
 * Returns the number of distinct addresses of a number of transactions. The number is less than the sum over
 * parts of the transactions, and at least the maximum of the parts.
 */
function distinct(transactions: number, factor: number): number {
  return transactions === 0 ? 0 : Math.ceil(factor * transactions ** 0.85);
}

/** The running sums of all days up to a day. */
interface Totals {
  readonly transactions: number;
  readonly addresses: number;
  readonly contracts: number;
  readonly deployers: number;
}

const NO_TOTALS: Totals = { transactions: 0, addresses: 0, contracts: 0, deployers: 0 };

function deployers(contracts: number): number {
  return Math.ceil(contracts ** 0.9);
}

function add(totals: Totals, day: Counts): Totals {
  return {
    transactions: totals.transactions + day.transactions,
    addresses: totals.addresses + Math.ceil(distinct(day.transactions, 1.6) * 0.05),
    contracts: totals.contracts + day.contracts,
    deployers: totals.deployers + Math.ceil(deployers(day.contracts) * 0.3),
  };
}

/** A source of metric values. Times are in Unix seconds. */
export interface Series {
  /** Returns the first window start that can have a point. Returns undefined if nothing was ever indexed. */
  first(interval: Interval): number | undefined;
  value(metric: Metric, interval: Interval, start: number, refresh: number): number | undefined;
}

/** The 17 metrics of one chain, derived from the hourly traffic that was counted at a refresh. */
export class ChainSeries implements Series {
  readonly #traffic: Traffic;
  readonly #firstDay: number;
  readonly #settled: Totals[] = [];

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
    this.#firstDay = windowStart('day', traffic.firstHour);
  }

  first(interval: Interval): number | undefined {
    return this.#traffic.chain.perHour === 0 ? undefined : windowStart(interval, this.#traffic.firstHour);
  }

  value(metric: Metric, interval: Interval, start: number, refresh: number): number | undefined {
    const first = this.first(interval);
    if (first === undefined || start < first || start >= refresh) return undefined;
    const end = nextWindow(interval, start);
    const vanishing = interval === 'hour' || interval === 'day' ? interval : undefined;
    if (vanishing && isVanished(this.#traffic.seed, METRICS.indexOf(metric), vanishing, start, end, refresh))
      return undefined;
    const traffic = this.#traffic;
    const counts = interval === 'hour' ? traffic.hour(start, refresh) : traffic.days(start, end, refresh);
    return this.#derived(metric, start, counts, refresh);
  }

  #derived(metric: Metric, day: number, counts: Counts, refresh: number): number {
    const elapsed = Math.min(DAY, refresh - day);
    const tps = counts.transactions / elapsed;
    const gps = counts.gas / elapsed;
    const swing = 1.5 + unit(this.#traffic.seed, day, 31);
    const gasPrice = round(25 + 14 * unit(this.#traffic.seed, day, 32), 6);
    switch (metric) {
      case 'txCount':
        return counts.transactions;
      case 'gasUsed':
        return counts.gas;
      case 'activeAddresses':
        return distinct(counts.transactions, 1.6);
      case 'activeSenders':
        return distinct(counts.transactions, 0.9);
      case 'contracts':
        return counts.contracts;
      case 'deployers':
        return deployers(counts.contracts);
      case 'cumulativeTxCount':
        return this.#totals(day + DAY, refresh).transactions;
      case 'cumulativeAddresses':
        return this.#totals(day + DAY, refresh).addresses;
      case 'cumulativeContracts':
        // This sum ends at the timestamp, unlike the other three cumulative metrics.
        return this.#totals(day, refresh).contracts;
      case 'cumulativeDeployers':
        return this.#totals(day + DAY, refresh).deployers;
      case 'avgTps':
        return round(tps, 2);
      case 'maxTps':
        return round(Math.max(tps, (counts.peak / HOUR) * swing), 2);
      case 'avgGps':
        return round(gps, 3);
      case 'maxGps':
        return round(gps * (1 + swing), 3);
      case 'avgGasPrice':
        return counts.transactions === 0 ? 0 : gasPrice;
      case 'maxGasPrice':
        return counts.transactions === 0 ? 0 : round(gasPrice * (1 + swing), 6);
      case 'feesPaid':
        return round((counts.gas * gasPrice) / 1e9, 9);
    }
  }

  /** Returns the sums of all days before `end`. */
  #totals(end: number, refresh: number): Totals {
    const days = Math.round((end - this.#firstDay) / DAY);
    const settledDays = Math.floor((refresh - SETTLED_AFTER - this.#firstDay) / DAY);
    const sure = Math.max(0, Math.min(days, settledDays));
    for (let i = this.#settled.length; i < sure; i += 1) {
      const before = this.#settled[i - 1] ?? NO_TOTALS;
      this.#settled.push(add(before, this.#traffic.day(this.#firstDay + i * DAY, refresh)));
    }
    let totals = sure === 0 ? NO_TOTALS : (this.#settled[sure - 1] ?? NO_TOTALS);
    for (let i = sure; i < days; i += 1) {
      const day = this.#firstDay + i * DAY;
      totals = add(totals, day < refresh ? this.#traffic.day(day, refresh) : NOTHING);
    }
    return totals;
  }
}
