import type { Interval } from './calendar.ts';
import { round, type Series } from './chain-series.ts';
import type { Metric } from './names.ts';

/** The metrics of several chains together, for `total`. */
export class GroupSeries implements Series {
  readonly #members: readonly Series[];

  constructor(members: readonly Series[]) {
    this.#members = members;
  }

  first(interval: Interval): number | undefined {
    const firsts = this.#members.flatMap((member) => member.first(interval) ?? []);
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /**
   * Returns a value of the group. Counts, rates and fees are added, maxima are the maximum, and the average
   * gas price is the fees divided by the gas.
   */
  value(metric: Metric, interval: Interval, start: number, refresh: number): number | undefined {
    if (metric === 'avgGasPrice') {
      const fees = this.value('feesPaid', interval, start, refresh);
      const gas = this.value('gasUsed', interval, start, refresh);
      if (fees === undefined || gas === undefined) return undefined;
      return gas === 0 ? 0 : round((fees * 1e9) / gas, 6);
    }
    const values = this.#members.flatMap((member) => member.value(metric, interval, start, refresh) ?? []);
    if (values.length === 0) return undefined;
    if (metric.startsWith('max')) return Math.max(...values);
    return round(
      values.reduce((a, b) => a + b, 0),
      9,
    );
  }
}
