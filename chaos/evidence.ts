/** A process with an expected exit. */
interface Exit {
  readonly what: string;
  readonly code: number | null;
  readonly expectedCodes: readonly number[];
  readonly elapsedMs: number;
  readonly limitMs: number;
}

/** A value with an upper limit. */
interface BoundedValue {
  readonly what: string;
  readonly value: number;
  readonly max: number;
}

/** The observations of a fault for the invariants. */
export class Evidence {
  /** Number of injected faults, by kind. */
  readonly served = new Map<string, number>();
  readonly exits: Exit[] = [];
  readonly bounded: BoundedValue[] = [];
  /** Recoveries: milliseconds from a fault's end until all targets were fresh; null: not within the time limit. */
  readonly recoveries: { readonly after: string; readonly elapsedMs: number | null }[] = [];
  /** Places that had to show a fault, and whether they did. */
  readonly indicators: { readonly where: string; readonly isVisible: boolean }[] = [];
  /** Places that had to report a stall, and the delay in ms; null: not in time. */
  readonly stallReports: {
    readonly what: string;
    readonly where: string;
    readonly delayMs: number | null;
  }[] = [];
  /** Other conditions. */
  readonly claims: { readonly what: string; readonly holds: boolean }[] = [];
  /** Texts in which the canary must not be: logs, pages, process arguments. */
  readonly texts: { readonly where: string; readonly text: string }[] = [];
  /** Figures for the report. */
  readonly figures = new Map<string, number | string>();

  serve(kind: string, times = 1): void {
    if (times > 0) this.served.set(kind, (this.served.get(kind) ?? 0) + times);
  }

  get totalServed(): number {
    return [...this.served.values()].reduce((sum, times) => sum + times, 0);
  }

  claim(what: string, holds: boolean): void {
    this.claims.push({ what, holds });
  }

  bound(what: string, value: number, max: number): void {
    this.bounded.push({ what, value, max });
  }

  exit(
    what: string,
    ending: { code: number | null; elapsedMs: number },
    expectedCodes: readonly number[],
    limitMs: number,
  ) {
    this.exits.push({ what, code: ending.code, expectedCodes, elapsedMs: ending.elapsedMs, limitMs });
  }

  /** Adds the p50, p99 and the maximum of durations, in milliseconds. */
  times(what: string, durations: readonly number[]): void {
    const sorted = [...durations].sort((a, b) => a - b);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
    if (sorted.length > 0)
      this.figures.set(what, `n ${sorted.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
  }
}

/** The quantile of values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
