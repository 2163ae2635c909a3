import type { MetricPoints } from '../http/answer.ts';

/**
 * One value of one response. `at` is in simulated Unix milliseconds; `call` is the number of the response.
 */
export interface MetricAnswer {
  readonly chain: string;
  readonly metric: string;
  readonly interval: string;
  readonly timestamp: number;
  readonly value: number;
  readonly at: number;
  readonly call: number;
}

/** Filter of responses; omitted fields match all. */
export interface MetricFilter {
  readonly chain?: string | undefined;
  readonly metric?: string | undefined;
  readonly interval?: string | undefined;
  readonly timestamp?: number | undefined;
}

/** Rows of (timestamp, value, at, call) of one series, in the order of the responses. */
class Rows {
  #cells = new Float64Array(4 * 64);
  length = 0;

  add(timestamp: number, value: number, at: number, call: number): void {
    const offset = this.length * 4;
    if (offset === this.#cells.length) {
      const larger = new Float64Array(offset * 2);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells.set([timestamp, value, at, call], offset);
    this.length += 1;
  }

  row(i: number): { timestamp: number; value: number; at: number; call: number } {
    const [timestamp = 0, value = 0, at = 0, call = 0] = this.#cells.subarray(i * 4, i * 4 + 4);
    return { timestamp, value, at, call };
  }
}

/** Store of every returned metric value, with 32 bytes per value. */
export class MetricAnswers {
  readonly #series = new Map<string, Rows>();

  /** Adds the points of a response. */
  add(answered: MetricPoints, at: number, call: number): void {
    const key = [answered.chain, answered.metric, answered.interval].join(' ');
    const rows = this.#series.get(key) ?? new Rows();
    this.#series.set(key, rows);
    for (const [timestamp, value] of answered.points) rows.add(timestamp, value, at, call);
  }

  /** Yields the matching responses, in order within each series. */
  *find(filter: MetricFilter = {}): Generator<MetricAnswer> {
    for (const [key, rows] of this.#series) {
      const [chain = '', metric = '', interval = ''] = key.split(' ');
      if ((filter.chain ?? chain) !== chain || (filter.metric ?? metric) !== metric) continue;
      if ((filter.interval ?? interval) !== interval) continue;
      for (let i = 0; i < rows.length; i += 1) {
        const row = rows.row(i);
        if ((filter.timestamp ?? row.timestamp) === row.timestamp) yield { chain, metric, interval, ...row };
      }
    }
  }
}
