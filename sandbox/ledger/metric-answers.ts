import type { MetricPoints } from '../http/answer.ts';

/** One value as it was answered once: at in simulated milliseconds, call the number of the answer. */
export interface MetricAnswer {
  readonly chain: string;
  readonly metric: string;
  readonly interval: string;
  readonly timestamp: number;
  readonly value: number;
  readonly at: number;
  readonly call: number;
}

/** Which answers to give; what is left out matches all. */
export interface MetricFilter {
  readonly chain?: string | undefined;
  readonly metric?: string | undefined;
  readonly interval?: string | undefined;
  readonly timestamp?: number | undefined;
}

/** Rows of (timestamp, value, at, call) of one series, in the order they were answered. */
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

/** Every metric value that was ever answered: complete, 32 bytes a value. */
export class MetricAnswers {
  readonly #series = new Map<string, Rows>();

  /** Notes the points of an answer. */
  add(answered: MetricPoints, at: number, call: number): void {
    const key = [answered.chain, answered.metric, answered.interval].join(' ');
    const rows = this.#series.get(key) ?? new Rows();
    this.#series.set(key, rows);
    for (const [timestamp, value] of answered.points) rows.add(timestamp, value, at, call);
  }

  /** The answers that match, in the order they were given within each series. */
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
