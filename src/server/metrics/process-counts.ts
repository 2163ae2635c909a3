import type { Buckets } from './metric.ts';

/** The ends of the buckets for calls, in seconds. */
const ENDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What is counted of one upstream. */
interface UpstreamCounts {
  /** By status of the answer, or by why there was none. */
  readonly calls: Map<string, number>;
  /** Calls that took at most as long as each of {@link ENDS}. */
  readonly within: number[];
  seconds: number;
}

/** What this process did since it started: calls to upstreams, runs, and lines of its log that were lost. Labels are names that the configuration gave. */
export class ProcessCounts {
  readonly #upstreams = new Map<string, UpstreamCounts>();
  /** Whether what the configuration file said the last time was applied, and when it was read (ms since 1970). */
  configuration: { readonly applied: boolean; readonly at: number } = { applied: true, at: Date.now() };
  readonly #runs = new Map<string, { feed: string; status: string; count: number }>();
  #underWay = 0;
  /** How many lines of its log could not be written. */
  readonly linesLost: () => number;

  constructor(linesLost: () => number = () => 0) {
    this.linesLost = linesLost;
  }

  /** Does a run, which is under way meanwhile. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Whether a run is under way. */
  get recording(): boolean {
    return this.#underWay > 0;
  }

  /**
   * Counts a call.
   * @param outcome the status of the answer (100 to 599), or why there was none
   */
  call(upstream: string, outcome: number | string, seconds: number): void {
    const counts = this.#upstreams.get(upstream) ?? {
      calls: new Map(),
      within: ENDS.map(() => 0),
      seconds: 0,
    };
    this.#upstreams.set(upstream, counts);
    counts.calls.set(String(outcome), (counts.calls.get(String(outcome)) ?? 0) + 1);
    counts.seconds += seconds;
    ENDS.forEach((end, at) => {
      if (seconds <= end) counts.within[at] = (counts.within[at] ?? 0) + 1;
    });
  }

  /** Notes that the configuration was read anew. @param applied false: it is wrong, and the one before holds */
  reloaded(applied: boolean): void {
    this.configuration = { applied, at: Date.now() };
  }

  /** Counts a run that ended. */
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

  /** How long the calls to each upstream took. */
  get durations(): readonly (readonly [upstream: string, durations: Buckets])[] {
    return [...this.#upstreams].map(([upstream, { calls, within, seconds }]) => [
      upstream,
      {
        upTo: ENDS.map((end, at) => [end, within[at] ?? 0] as const),
        count: [...calls.values()].reduce((sum, one) => sum + one, 0),
        sum: seconds,
      },
    ]);
  }
}
