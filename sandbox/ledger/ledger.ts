import type { MetricPoints } from '../http/answer.ts';
import type { Service } from '../http/operation.ts';
import { type MetricAnswer, MetricAnswers, type MetricFilter } from './metric-answers.ts';

/** One request and its response. */
export interface CallRecord {
  /** Number of the call, from 1. */
  readonly call: number;
  /** Simulated Unix time in milliseconds. */
  readonly at: number;
  readonly service: Service;
  /** The operation, a JSON-RPC method, or `unknown`. */
  readonly operation: string;
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly status: number;
  readonly units: number;
  readonly bytes: number;
  readonly fault?: string;
  readonly body?: string;
}

/** Number of calls, and the sum of their budget units. Totals are kept for all calls. */
export interface Total {
  readonly calls: number;
  readonly units: number;
}

/** Filter of calls; omitted fields match all. */
export interface CallFilter {
  readonly operation?: string | undefined;
  readonly service?: string | undefined;
  readonly fault?: string | undefined;
}

/** Limits of the ledger. */
export interface LedgerLimits {
  /** Number of calls that are kept completely. Older calls are only counted. */
  readonly calls: number;
  /** True if the ledger keeps the bodies of the responses with the calls. */
  readonly bodies: boolean;
}

/** Responses of the sandbox: the last calls completely, counters and metric values without limit. */
export class Ledger {
  readonly #limits: LedgerLimits;
  #calls: CallRecord[] = [];
  readonly #totals = new Map<string, Total>();
  readonly #faults = new Map<string, number>();
  readonly #metrics = new MetricAnswers();
  #last = 0;

  constructor(limits: LedgerLimits) {
    this.#limits = limits;
  }

  /** Adds a call and the metric points that the client could read from the response. */
  record(entry: Omit<CallRecord, 'call'>, points?: MetricPoints): CallRecord {
    this.#last += 1;
    const { body, ...rest } = entry;
    const call: CallRecord = { call: this.#last, ...(this.#limits.bodies ? entry : rest) };
    this.#calls.push(call);
    if (this.#calls.length > this.#limits.calls * 2) this.#calls = this.#calls.slice(-this.#limits.calls);
    const total = this.total(entry.operation);
    this.#totals.set(entry.operation, { calls: total.calls + 1, units: total.units + entry.units });
    if (entry.fault !== undefined) this.#faults.set(entry.fault, (this.#faults.get(entry.fault) ?? 0) + 1);
    if (points !== undefined) this.#metrics.add(points, entry.at, call.call);
    return call;
  }

  /** Returns the last calls that match, oldest first. */
  calls(filter: CallFilter = {}): CallRecord[] {
    return this.#calls
      .slice(-this.#limits.calls)
      .filter(
        (call) =>
          (filter.operation ?? call.operation) === call.operation &&
          (filter.service ?? call.service) === call.service &&
          (filter.fault ?? call.fault) === call.fault,
      );
  }

  /** Returns the number of calls of an operation. */
  count(operation: string): number {
    return this.total(operation).calls;
  }

  /** Returns the number of calls of an operation, and their budget units. */
  total(operation: string): Total {
    return this.#totals.get(operation) ?? { calls: 0, units: 0 };
  }

  /** Returns the totals of every operation that was called. */
  totals(): Readonly<Record<string, Total>> {
    return Object.fromEntries(this.#totals);
  }

  /** Returns the number of served faults of each kind. */
  faults(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#faults);
  }

  /**
   * Returns every matching metric value of the responses, in the order of the responses within each series.
   */
  metrics(filter: MetricFilter = {}): MetricAnswer[] {
    return [...this.#metrics.find(filter)];
  }

  /** Yields the same values as {@link metrics}, one by one. */
  eachMetric(filter: MetricFilter = {}): Generator<MetricAnswer> {
    return this.#metrics.find(filter);
  }
}
