import type { Buckets } from './samples.ts';

/** Inclusive ends of the buckets for durations of calls, in s. */
const BUCKET_ENDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface UpstreamCounts {
  /** Number of calls by status of the response, or by error if there was no response. */
  readonly calls: Map<string, number>;
  /** Number of calls with at most the duration of each entry of {@link BUCKET_ENDS}. */
  readonly within: number[];
  /** Sum of the durations of all calls, in s. */
  seconds: number;
}

/**
 * Counters of this process since its start: calls to upstreams, runs, and lost log lines. The
 * upstreams and feeds are names from the configuration.
 */
export class ProcessCounts {
  readonly #upstreams = new Map<string, UpstreamCounts>();
  /**
   * Whether the last read configuration file is valid and in use, and the time of that read, in ms since
   * 1970.
   */
  configuration: { readonly applied: boolean; readonly at: number } = { applied: true, at: Date.now() };
  readonly #runs = new Map<string, { feed: string; status: string; count: number }>();
  #underWay = 0;
  /** Returns the number of log lines that could not be written. */
  readonly linesLost: () => number;

  constructor(linesLost: () => number = () => 0) {
    this.linesLost = linesLost;
  }

  /** Executes a run, and counts it as in progress. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Returns whether a run is in progress. */
  get recording(): boolean {
    return this.#underWay > 0;
  }

  /**
   * Counts a call.
   * @param outcome the status of the response (100 to 599), or the error if there was no response
   */
  call(upstream: string, outcome: number | string, seconds: number): void {
    const counts = this.#upstreams.get(upstream) ?? {
      calls: new Map(),
      within: BUCKET_ENDS.map(() => 0),
      seconds: 0,
    };
    this.#upstreams.set(upstream, counts);
    counts.calls.set(String(outcome), (counts.calls.get(String(outcome)) ?? 0) + 1);
    counts.seconds += seconds;
    BUCKET_ENDS.forEach((end, at) => {
      if (seconds <= end) counts.within[at] = (counts.within[at] ?? 0) + 1;
    });
  }

  /**
   * Stores the result and time of a reload of the configuration.
   * @param applied false if the new configuration is invalid and the previous one remains in use
   */
  noteReload(applied: boolean): void {
    this.configuration = { applied, at: Date.now() };
  }

  run({ feed, status }: { readonly feed: string; readonly status: string }): void {
    const key = `${feed} ${status}`;
    const known = this.#runs.get(key) ?? { feed, status, count: 0 };
    known.count += 1;
    this.#runs.set(key, known);
  }

  get runs(): readonly { readonly feed: string; readonly status: string; readonly count: number }[] {
    return [...this.#runs.values()];
  }

  get calls(): readonly { readonly upstream: string; readonly status: string; readonly count: number }[] {
    return [...this.#upstreams].flatMap(([upstream, { calls }]) =>
      [...calls].map(([status, count]) => ({ upstream, status, count })),
    );
  }

  /** Returns the durations of the calls to each upstream. */
  get durations(): readonly (readonly [upstream: string, durations: Buckets])[] {
    return [...this.#upstreams].map(([upstream, { calls, within, seconds }]) => [
      upstream,
      {
        upTo: BUCKET_ENDS.map((end, at) => [end, within[at] ?? 0] as const),
        count: [...calls.values()].reduce((sum, one) => sum + one, 0),
        sum: seconds,
      },
    ]);
  }
}
