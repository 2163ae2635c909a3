/** A process that was expected to end in a certain way. */
interface Exit {
  readonly what: string;
  readonly code: number | null;
  readonly promised: readonly number[];
  readonly took: number;
  readonly within: number;
}

/** Something that must not grow beyond a bound. */
interface Bounded {
  readonly what: string;
  readonly value: number;
  readonly most: number;
}

/** What a fault gathered for the invariants while it was at work. */
export class Evidence {
  /** Faults that really happened, by kind. */
  readonly served = new Map<string, number>();
  readonly exits: Exit[] = [];
  readonly bounded: Bounded[] = [];
  /** Recoveries: milliseconds from a fault's end until all was fresh again; null: never within the time. */
  readonly recoveries: { readonly after: string; readonly took: number | null }[] = [];
  /** Where a fault had to show, and whether it did. */
  readonly shown: { readonly where: string; readonly seen: boolean }[] = [];
  /** Where something that is stalled had to be told, and how many ms after it stopped it was; null: not in time. */
  readonly told: { readonly what: string; readonly where: string; readonly after: number | null }[] = [];
  /** Whatever else must be true. */
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

  bound(what: string, value: number, most: number): void {
    this.bounded.push({ what, value, most });
  }

  exit(
    what: string,
    ending: { code: number | null; took: number },
    promised: readonly number[],
    within: number,
  ) {
    this.exits.push({ what, code: ending.code, promised, took: ending.took, within });
  }

  /** Notes the p50, p99 and the most of many durations, in milliseconds. */
  times(what: string, durations: readonly number[]): void {
    const sorted = [...durations].sort((a, b) => a - b);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
    if (sorted.length > 0)
      this.figures.set(what, `n ${sorted.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
  }
}

/** The value below which so many of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
