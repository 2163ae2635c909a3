/** Who holds which share of an observer, as a process sees it at one moment. */
export interface SharesSeen {
  /** The live processes that may watch. */
  readonly processes: readonly string[];
  readonly shares: readonly SeenShare[];
}

export interface SeenShare {
  readonly share: string;
  /** The process that has it, or had it last; null: nobody gave its name. */
  readonly process: string | null;
  /** Nobody has it. */
  readonly free: boolean;
}

/** What a process does about the shares. */
export interface Decision {
  readonly take: readonly string[];
  readonly giveUp: readonly string[];
}

/** A free share waits so long, in ms, for a process that has fewer. */
const WAITS_FOR = 10_000;
/** Shares are given up when they were uneven for so long, in ms: longer than a killed process counts as alive. */
const UNEVEN_FOR = 30_000;

/**
 * Divides the shares of an observer among processes that decide each for itself. A free share goes to one that has the fewest; who
 * has at least two more than another gives some up. Leases decide between two that want the same.
 */
export class Division {
  readonly #process: string;
  readonly #freeSince = new Map<string, number>();
  #unevenSince: number | null = null;

  /** @param process the one that decides */
  constructor(process: string) {
    this.#process = process;
  }

  /** @param now ms by a clock that cannot be set */
  decide({ processes, shares }: SharesSeen, now: number): Decision {
    const held = new Map([...processes, this.#process].map((process) => [process, 0]));
    for (const { process } of shares)
      if (process !== null && held.has(process)) held.set(process, (held.get(process) ?? 0) + 1);
    // Who let a lease run out is gone, also while it still counts as alive.
    for (const { process, free } of shares)
      if (free && process !== null && process !== this.#process) held.delete(process);
    const take = this.#taken(shares, held, now);
    return { take, giveUp: take.length > 0 ? [] : this.#givenUp(shares, held, now) };
  }

  #taken(shares: readonly SeenShare[], held: Map<string, number>, now: number): string[] {
    const take: string[] = [];
    for (const { share, process, free } of shares) {
      if (!free) {
        this.#freeSince.delete(share);
        continue;
      }
      const since = this.#freeSince.get(share) ?? now;
      this.#freeSince.set(share, since);
      const mine = held.get(this.#process) ?? 0;
      if (process === this.#process) take.push(share);
      else if (mine <= Math.min(...held.values()) || now - since >= WAITS_FOR) {
        held.set(this.#process, mine + 1);
        take.push(share);
      }
    }
    return take;
  }

  #givenUp(shares: readonly SeenShare[], held: ReadonlyMap<string, number>, now: number): string[] {
    const counts = [...held].sort(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1));
    const [[fullest, most] = ['', 0]] = counts;
    const fewest = counts.at(-1)?.[1] ?? 0;
    if (fullest !== this.#process || most - fewest < 2 || shares.some(({ free }) => free)) {
      this.#unevenSince = null;
      return [];
    }
    this.#unevenSince ??= now;
    if (now - this.#unevenSince < UNEVEN_FOR) return [];
    this.#unevenSince = null;
    const mine = shares.filter(({ process }) => process === this.#process).map(({ share }) => share);
    const excess = Math.max(1, most - Math.ceil(shares.length / held.size));
    return mine.slice(-excess);
  }
}
