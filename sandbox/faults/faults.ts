import type { Service } from '../http/operation.ts';
import { derive, mix, unit } from '../random.ts';
import type { FaultContext, FaultEffect, FaultSizes } from './context.ts';
import { FAULT_KINDS, type FaultKind } from './kinds.ts';
import { spoil } from './spoil.ts';

/** The requests of a fault; omitted filters match all. */
export interface FaultMatch {
  readonly service?: Service | undefined;
  /** The operation's name: an operationId of the data service, a JSON-RPC method, a probe. */
  readonly operation?: string | undefined;
  /** A part of the path with its query. */
  readonly target?: string | undefined;
}

interface Planned {
  readonly match: FaultMatch;
  readonly kind: FaultKind;
  remaining: number;
  readonly untilMs: number;
}

/** A fault that was served. */
export interface ServedFault extends FaultEffect {
  readonly kind: FaultKind;
}

const SIZES: FaultSizes = {
  lateMs: 30_000,
  dripMs: 1_000,
  hugeBytes: 1 << 30,
  bombBytes: 200 << 20,
  depth: 2_000_000,
};

function matches(match: FaultMatch, context: FaultContext): boolean {
  const target = `${context.call.path}?${context.call.query}`;
  return (
    (match.service ?? context.service) === context.service &&
    (match.operation ?? context.operation) === context.operation &&
    target.includes(match.target ?? '')
  );
}

/**
 * The planned faults: those of selected requests, and random ones at a rate. The random ones are derived from
 * the seed.
 */
export class Faults {
  readonly #seed: number;
  #planned: Planned[] = [];
  #rates: { readonly match: FaultMatch; readonly kind: FaultKind; readonly rate: number }[] = [];
  #sizes = SIZES;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = derive(seed, 'faults');
  }

  /** Applies a fault to the next matching requests. Default: to one request. */
  next(match: FaultMatch, kind: FaultKind, times = 1): void {
    this.#planned.push({ match, kind, remaining: times, untilMs: Number.POSITIVE_INFINITY });
  }

  /** Applies a fault to every matching request until a simulated time (Unix milliseconds). */
  until(match: FaultMatch, kind: FaultKind, untilMs: number): void {
    this.#planned.push({ match, kind, remaining: Number.POSITIVE_INFINITY, untilMs });
  }

  /**
   * Applies faults to a share (0 to 1) of the matching requests, by kind of fault. Earlier rates for other
   * requests stay.
   */
  rate(rates: Partial<Readonly<Record<FaultKind, number>>>, match: FaultMatch = {}): void {
    for (const kind of FAULT_KINDS) {
      const rate = rates[kind];
      if (rate !== undefined) this.#rates.push({ match, kind, rate });
    }
  }

  /** Changes sizes and times of faults. */
  tune(sizes: Partial<FaultSizes>): void {
    this.#sizes = { ...this.#sizes, ...sizes };
  }

  /** Removes all plans and rates. */
  clear(): void {
    this.#planned = [];
    this.#rates = [];
  }

  /** True if no fault can be served, so that responses need no preparation for one. */
  get idle(): boolean {
    return this.#planned.length === 0 && this.#rates.length === 0;
  }

  /** Applies the planned fault to a response; undefined leaves it unchanged. */
  serve(context: Omit<FaultContext, 'draw' | 'sizes'>): ServedFault | undefined {
    this.#drawn += 1;
    const complete: FaultContext = { ...context, sizes: this.#sizes, draw: mix(this.#seed, this.#drawn) };
    const { nowMs } = context.call;
    this.#planned = this.#planned.filter((plan) => plan.remaining > 0 && nowMs < plan.untilMs);
    for (const plan of this.#planned) {
      const effect = matches(plan.match, complete) ? spoil(plan.kind, complete) : undefined;
      if (effect === undefined) continue;
      plan.remaining -= 1;
      return { kind: plan.kind, ...effect };
    }
    for (const [i, { match, kind, rate }] of this.#rates.entries()) {
      if (!matches(match, complete) || unit(this.#seed, this.#drawn, i, 1) >= rate) continue;
      const effect = spoil(kind, complete);
      if (effect !== undefined) return { kind, ...effect };
    }
    return undefined;
  }
}
