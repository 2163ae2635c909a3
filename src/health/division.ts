/** Snapshot of the holders of the shares of an observer. */
export interface ShareSnapshot {
  /** Live processes that may probe. */
  readonly processes: readonly string[];
  readonly shares: readonly ShareState[];
}

export interface ShareState {
  readonly share: string;
  /** The current or last holder. Null: none is known. */
  readonly process: string | null;
  /** True if no process holds the share. */
  readonly free: boolean;
}

/** Shares to acquire and to release. */
export interface ShareDecision {
  readonly acquire: readonly string[];
  readonly release: readonly string[];
}

/** Time for which a free share is left to a process with fewer shares, in ms. */
const FREE_SHARE_DELAY_MS = 10_000;
/**
 * Time for which an uneven division is tolerated, in ms. A killed process counts as alive for a shorter time.
 */
const REBALANCE_DELAY_MS = 30_000;

/**
 * Divides the shares of an observer among processes without coordination. A free share goes to a process with
 * the fewest shares. The process with the most shares releases some shares if it has at least two more than
 * another process. If two processes acquire the same share, its lease decides.
 */
export class ShareBalancer {
  readonly #process: string;
  readonly #freeSince = new Map<string, number>();
  #unevenSince: number | null = null;

  /** @param process name of this process */
  constructor(process: string) {
    this.#process = process;
  }

  /**
   * Decides which shares to acquire and to release.
   * @param now ms of a monotonic clock
   */
  decide({ processes, shares }: ShareSnapshot, now: number): ShareDecision {
    const countByProcess = new Map([...processes, this.#process].map((process) => [process, 0]));
    for (const { process } of shares)
      if (process !== null && countByProcess.has(process))
        countByProcess.set(process, (countByProcess.get(process) ?? 0) + 1);
    // A process whose lease expired has ended, even if it still counts as alive.
    for (const { process, free } of shares)
      if (free && process !== null && process !== this.#process) countByProcess.delete(process);
    const acquire = this.#sharesToAcquire(shares, countByProcess, now);
    return { acquire, release: acquire.length > 0 ? [] : this.#sharesToRelease(shares, countByProcess, now) };
  }

  #sharesToAcquire(
    shares: readonly ShareState[],
    countByProcess: Map<string, number>,
    now: number,
  ): string[] {
    const acquire: string[] = [];
    for (const { share, process, free } of shares) {
      if (!free) {
        this.#freeSince.delete(share);
        continue;
      }
      const since = this.#freeSince.get(share) ?? now;
      this.#freeSince.set(share, since);
      const mine = countByProcess.get(this.#process) ?? 0;
      if (process === this.#process) acquire.push(share);
      else if (mine <= Math.min(...countByProcess.values()) || now - since >= FREE_SHARE_DELAY_MS) {
        countByProcess.set(this.#process, mine + 1);
        acquire.push(share);
      }
    }
    return acquire;
  }

  #sharesToRelease(
    shares: readonly ShareState[],
    countByProcess: ReadonlyMap<string, number>,
    now: number,
  ): string[] {
    const counts = [...countByProcess].sort(
      ([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1),
    );
    const [[fullest, most] = ['', 0]] = counts;
    const fewest = counts.at(-1)?.[1] ?? 0;
    if (fullest !== this.#process || most - fewest < 2 || shares.some(({ free }) => free)) {
      this.#unevenSince = null;
      return [];
    }
    this.#unevenSince ??= now;
    if (now - this.#unevenSince < REBALANCE_DELAY_MS) return [];
    this.#unevenSince = null;
    const mine = shares.filter(({ process }) => process === this.#process).map(({ share }) => share);
    const excess = Math.max(1, most - Math.ceil(shares.length / countByProcess.size));
    return mine.slice(-excess);
  }
}
