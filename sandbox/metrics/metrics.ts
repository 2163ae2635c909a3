import type { Point } from '../http/answer.ts';
import type { EvmChain } from '../network/evm-chains.ts';
import { type Interval, previousWindow, windowStart } from './calendar.ts';
import { ChainSeries, type Series } from './chain-series.ts';
import { GroupSeries } from './group-series.ts';
import type { Metric } from './names.ts';
import { lastRefresh } from './refresh.ts';
import { Traffic } from './traffic.ts';

/** A range of a series, newest first. Start and end are inclusive, in Unix seconds. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/**
 * All series of the metrics service, by chain id or `total`. There are no series for `mainnet` and `testnet`,
 * which are public networks.
 */
export class Metrics {
  readonly #series = new Map<string, Series>();

  constructor(seed: number, chains: readonly EvmChain[]) {
    for (const chain of chains) this.#series.set(chain.chainId, new ChainSeries(new Traffic(seed, chain)));
    this.#series.set('total', new GroupSeries([...this.#series.values()]));
  }

  has(chainId: string): boolean {
    return this.#series.has(chainId);
  }

  /**
   * Returns the value of one point in responses at a time (Unix seconds). Returns undefined if there was no
   * such point.
   */
  value(
    chainId: string,
    metric: Metric,
    interval: Interval,
    start: number,
    atSec: number,
  ): number | undefined {
    return this.#series.get(chainId)?.value(metric, interval, start, lastRefresh(atSec));
  }

  /** Returns the points of a range, newest first, in responses at a time (Unix seconds). */
  points(chainId: string, metric: Metric, interval: Interval, range: Range, atSec: number): Point[] {
    const series = this.#series.get(chainId);
    const first = series?.first(interval);
    if (series === undefined || first === undefined) return [];
    const refresh = lastRefresh(atSec);
    const floor = Math.max(first, range.from);
    const points: Point[] = [];
    let start = windowStart(interval, Math.min(range.to, refresh));
    if (start > range.to) start = previousWindow(interval, start);
    for (; start >= floor && points.length < range.limit; start = previousWindow(interval, start)) {
      const value = series.value(metric, interval, start, refresh);
      if (value !== undefined) points.push([start, value]);
    }
    return points;
  }
}
