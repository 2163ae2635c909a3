import { WHOLE_PROBE } from './health-reading.ts';
import { decodeSlots, encodeSlots } from './latency-entries.ts';
import { findBucket, type Histogram } from './latency-histogram.ts';
import type { LatencyHour } from './latency-store.ts';
import type { LedgerTransition, ProbeProgress } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import {
  applyMaintenance,
  type DatedVerdict,
  type MaintenanceWindow,
  UNDER_MAINTENANCE,
} from './maintenance.ts';
import {
  applyObservation,
  INITIAL_PROBE_STATE,
  latestTexts,
  type Observation,
  type ProbeState,
  type Transition,
  type VerdictEnd,
} from './state.ts';

const HOUR = 3_600_000;
/** Maximum number of moments of queries in memory, while the database is unavailable. */
const MAX_QUERY_MOMENTS = 1_000;

/** Initial state of a probe: empty, or as an earlier process stored it. */
export interface ResumedProbe {
  readonly state: ProbeState;
  /** True if the probe is under maintenance in the ledger. */
  readonly maintained: boolean;
  readonly probes: number;
  readonly hour: { readonly start: number; readonly entries: Buffer } | null;
  /** Wall time up to which the ledger of the probe is final. */
  readonly settled: number;
}

/** One probe of one node in the prober. Moments of a probe are on the monotonic clock. */
export class WatchedProbe {
  readonly node: string;
  readonly probe: string;
  #queryStartedAt: number | null = null;
  /** Number of the newest query. */
  #queryNumber = 0;
  /** True if the progress has unwritten changes. */
  dirty = false;
  #state: ProbeState;
  #probes: number;
  #probedAt = 0;
  /** Moments of the queries since `#settled`. Maintenance may have started or ended between them. */
  #queriedAt: number[] = [];
  #hour: { readonly start: number; readonly counts: Map<number, number> } | null;
  readonly #ended: LatencyHour[] = [];
  #transitions: Transition[] = [];
  /** Observed verdict of the whole probe at `#settled`, without maintenance. */
  #whole: Transition | null;
  /** Verdict of the whole probe in the ledger at `#settled`, with maintenance. */
  #counted: Transition | null;
  #settled: number;
  /** End of the probe, and the transitions that end its checks. Null: the probe continues. */
  #end: { readonly at: number; readonly endings: readonly VerdictEnd[] } | null = null;

  constructor(node: string, probe: string, { state, maintained, probes, hour, settled }: ResumedProbe) {
    this.node = node;
    this.probe = probe;
    this.#state = state;
    this.#probes = probes;
    this.#settled = settled;
    this.#hour = hour && { start: hour.start, counts: new Map(decodeSlots(hour.entries).get(0)) };
    const whole = state.verdicts.get(WHOLE_PROBE);
    this.#whole = whole
      ? { ...whole, at: settled, check: WHOLE_PROBE, before: probes, failingSince: null, ended: null }
      : null;
    this.#counted = this.#whole && maintained ? { ...this.#whole, ...UNDER_MAINTENANCE } : this.#whole;
  }

  /** Start of the query in progress. Null: there is none. */
  get queryStartedAt(): number | null {
    return this.#queryStartedAt;
  }

  /** Number of queries so far. */
  get queryCount(): number {
    return this.#probes;
  }

  /** Names of all checks so far. */
  get checkNames(): ReadonlySet<string> {
    return new Set([...this.#state.endedNames, ...this.#state.verdicts.keys()]);
  }

  /**
   * Starts a query.
   * @returns the number of the query
   */
  startQuery(now: number): number {
    this.#queryStartedAt = now;
    this.#queryNumber += 1;
    return this.#queryNumber;
  }

  /**
   * Ends a query.
   * @returns false if the query was discarded
   */
  endQuery(queryNumber: number): boolean {
    if (queryNumber !== this.#queryNumber || this.#queryStartedAt === null) return false;
    this.#queryStartedAt = null;
    return true;
  }

  /** Discards the query in progress, so that its result does not count. */
  discardQuery(): void {
    this.#queryStartedAt = null;
  }

  /** First failure that waits for a confirmation. Null: none. */
  get suspect(): Observation | null {
    return this.#state.suspect;
  }

  /**
   * Processes the result of a query.
   * @param latency time until the complete response, in ms; null: there was no health report
   */
  addResult(
    result: Omit<Observation, 'before'>,
    latency: number | null,
    staleAfter: number,
    wall: number,
  ): void {
    const { state, transitions } = applyObservation(
      this.#state,
      { ...result, before: this.#probes },
      staleAfter,
    );
    this.#state = state;
    this.#transitions.push(...transitions);
    this.#probes += 1;
    this.#probedAt = wall;
    this.#queriedAt.push(result.at);
    if (this.#queriedAt.length > MAX_QUERY_MOMENTS) this.#queriedAt.shift();
    this.dirty = true;
    if (latency === null) return;
    const start = Math.floor(wall / HOUR) * HOUR;
    if (this.#hour && this.#hour.start !== start) this.#ended.push(this.#latencyOf(this.#hour));
    if (this.#hour?.start !== start) this.#hour = { start, counts: new Map() };
    const bucket = findBucket(latency);
    this.#hour.counts.set(bucket, (this.#hour.counts.get(bucket) ?? 0) + 1);
  }

  /** Ends the probe. If a failure waits for a confirmation, the probe ends at that failure. */
  end(now: number): void {
    const { verdicts, suspect } = this.#state;
    const at = suspect?.at ?? now;
    const endings = [...verdicts].map(([check, verdict]): VerdictEnd => {
      const { error, message, reported } = verdict;
      const ended = latestTexts(verdict);
      return {
        ...{ state: null, at, check, error, message, reported },
        ...{ before: this.#probes, failingSince: null, ended },
      };
    });
    this.#end = { at, endings };
    this.#state = { ...this.#state, suspect: null };
    this.dirty = true;
  }

  /**
   * Returns the transitions since the last call, with announced maintenance applied.
   * @param settled wall time before which nothing can change
   * @param windows windows that overlap the time since the last call
   */
  transitionsUntil(
    settled: number,
    windows: readonly MaintenanceWindow[],
    clock: LedgerClock,
  ): LedgerTransition[] {
    const transitions = this.#transitions.map((transition) => ({
      ...transition,
      at: clock.toWall(transition.at),
    }));
    this.#transitions = [];
    const whole = transitions.flatMap((transition): DatedVerdict<Transition>[] =>
      transition.check === WHOLE_PROBE && transition.state !== null
        ? [{ at: transition.at, verdict: transition }]
        : [],
    );
    const end = this.#end && { ...this.#end, at: clock.toWall(this.#end.at) };
    const to = Math.max(end?.at ?? settled, ...whole.map(({ at }) => at));
    const mine = windows.filter(({ nodes }) => nodes === null || nodes.includes(this.node));
    const counting = applyMaintenance(this.#whole, this.#counted, whole, mine, this.#settled, to);
    this.#whole = whole.at(-1)?.verdict ?? this.#whole;
    this.#counted = counting.at(-1)?.verdict ?? this.#counted;
    this.#settled = to;
    const moments = this.#queriedAt.map((at) => clock.toWall(at));
    this.#queriedAt = this.#queriedAt.filter((_, n) => (moments[n] ?? 0) > to);
    const before = ({ at, verdict }: DatedVerdict<Transition>) =>
      at === verdict.at ? verdict.before : this.#probes - moments.filter((moment) => moment >= at).length;
    return [
      ...counting.map((one) => ({
        ...one.verdict,
        at: one.at,
        before: before(one),
        ended: one.at === one.verdict.at ? one.verdict.ended : null,
      })),
      ...transitions.filter(({ check }) => check !== WHOLE_PROBE),
      ...(end ? end.endings.map((ending) => ({ ...ending, at: end.at })) : []),
    ].map((transition) => ({ ...transition, node: this.node, probe: this.probe }));
  }

  /** Returns and removes the completed hours of response times. */
  endedHours(): LatencyHour[] {
    return this.#ended.splice(0);
  }

  progress(clock: LedgerClock): ProbeProgress {
    const { suspect } = this.#state;
    return {
      node: this.node,
      probe: this.probe,
      probes: this.#probes,
      probedAt: this.#probedAt,
      suspect: suspect && { ...suspect, at: clock.toWall(suspect.at) },
      latest: latestOf(this.#state),
      hour: this.#hour?.start ?? null,
      entries: this.#hour && encodeSlots(new Map([[0, this.#hour.counts]])),
    };
  }

  #latencyOf({ start, counts }: { start: number; counts: Histogram }): LatencyHour {
    return { node: this.node, probe: this.probe, hour: start, histogram: counts };
  }
}

/** Returns the latest texts as JSON by check. Messages are already JSON. */
function latestOf({ verdicts }: ProbeState): string | null {
  const members = [...verdicts].flatMap(([check, verdict]) => {
    const ending = latestTexts(verdict);
    if (!ending) return [];
    const { error, message, failures } = ending;
    const json = JSON.stringify({ error, failures }).slice(0, -1);
    return [`${JSON.stringify(check)}:${json}${message === null ? '' : `,"message":${message}`}}`];
  });
  return members.length === 0 ? null : `{${members.join()}}`;
}

/** Returns the initial state of a new probe. */
export const createInitialProbe = (settled: number): ResumedProbe => ({
  state: INITIAL_PROBE_STATE,
  maintained: false,
  probes: 0,
  hour: null,
  settled,
});
