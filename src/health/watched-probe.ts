import { WHOLE } from './health-reading.ts';
import { decodeSlots, encodeSlots } from './latency-entries.ts';
import { bucketOf, type Histogram } from './latency-histogram.ts';
import type { LatencyHour } from './latency-store.ts';
import type { LedgerTransition, ProbeProgress } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { type Dated, type MaintenanceWindow, UNDER_MAINTENANCE, underMaintenance } from './maintenance.ts';
import {
  type Ending,
  endingOf,
  NOTHING_KNOWN,
  type Observation,
  type ProbeState,
  step,
  type Transition,
} from './state.ts';

const HOUR = 3_600_000;

/** The start of a probe: nothing, or what an earlier process stored. */
export interface ResumedProbe {
  readonly state: ProbeState;
  /** It is under maintenance in the ledger. */
  readonly maintained: boolean;
  readonly probes: number;
  readonly hour: { readonly start: number; readonly entries: Buffer } | null;
  /** The wall time up to which its ledger is settled. */
  readonly settled: number;
}

/** One probe of one node in the prober. Its moments are on the steady clock. */
export class WatchedProbe {
  readonly node: string;
  readonly probe: string;
  #askedAt: number | null = null;
  /** Number of the newest look. */
  #look = 0;
  /** Something changed since the progress was written. */
  dirty = false;
  #state: ProbeState;
  #probes: number;
  #probedAt = 0;
  #hour: { readonly start: number; readonly counts: Map<number, number> } | null;
  readonly #ended: LatencyHour[] = [];
  #transitions: Transition[] = [];
  /** The observed verdict of the whole probe at `#settled`, without maintenance. */
  #whole: Transition | null;
  /** The verdict of the whole probe in the ledger at `#settled`, with maintenance. */
  #counted: Transition | null;
  #settled: number;
  /** When the watch of it ended, and the transitions that end its checks; null: it goes on. */
  #end: { readonly at: number; readonly endings: readonly Ending[] } | null = null;

  constructor(node: string, probe: string, { state, maintained, probes, hour, settled }: ResumedProbe) {
    this.node = node;
    this.probe = probe;
    this.#state = state;
    this.#probes = probes;
    this.#settled = settled;
    this.#hour = hour && { start: hour.start, counts: new Map(decodeSlots(hour.entries).get(0)) };
    const whole = state.standing.get(WHOLE);
    this.#whole = whole
      ? { ...whole, at: settled, check: WHOLE, before: probes, failingSince: null, ended: null }
      : null;
    this.#counted = this.#whole && maintained ? { ...this.#whole, ...UNDER_MAINTENANCE } : this.#whole;
  }

  /** When the look under way began; null: there is none. */
  get askedAt(): number | null {
    return this.#askedAt;
  }

  /** Number of looks so far. */
  get looks(): number {
    return this.#probes;
  }

  /** Begins a look. @returns its number */
  beginLook(now: number): number {
    this.#askedAt = now;
    this.#look += 1;
    return this.#look;
  }

  /** Ends a look. @returns false if the look was discarded */
  endLook(look: number): boolean {
    if (look !== this.#look || this.#askedAt === null) return false;
    this.#askedAt = null;
    return true;
  }

  /** Discards the look under way: its result does not count. */
  discardLook(): void {
    this.#askedAt = null;
  }

  /** The first failure that waits for a second look. */
  get suspect(): Observation | null {
    return this.#state.suspect;
  }

  /** Takes a look into account. @param latency ms to the whole answer; null: there was none */
  take(look: Omit<Observation, 'before'>, latency: number | null, staleAfter: number, wall: number): void {
    const { state, transitions } = step(this.#state, { ...look, before: this.#probes }, staleAfter);
    this.#state = state;
    this.#transitions.push(...transitions);
    this.#probes += 1;
    this.#probedAt = wall;
    this.dirty = true;
    if (latency === null) return;
    const start = Math.floor(wall / HOUR) * HOUR;
    if (this.#hour && this.#hour.start !== start) this.#ended.push(this.#latencyOf(this.#hour));
    if (this.#hour?.start !== start) this.#hour = { start, counts: new Map() };
    const bucket = bucketOf(latency);
    this.#hour.counts.set(bucket, (this.#hour.counts.get(bucket) ?? 0) + 1);
  }

  /** Ends the watch of the probe: after a failure that waits for a second look nothing is known. */
  end(now: number): void {
    const { standing, suspect } = this.#state;
    const at = suspect?.at ?? now;
    const endings = [...standing].map(([check, verdict]): Ending => {
      const { error, message, reported } = verdict;
      const ended = endingOf(verdict);
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
   * The transitions since the last time, with announced maintenance laid over them.
   * @param windows those that touch the time since then; @param settled the wall time up to which nothing more can change
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
    const whole = transitions.flatMap((transition): Dated<Transition>[] =>
      transition.check === WHOLE && transition.state !== null
        ? [{ at: transition.at, verdict: transition }]
        : [],
    );
    const end = this.#end && { ...this.#end, at: clock.toWall(this.#end.at) };
    const to = Math.max(end?.at ?? settled, ...whole.map(({ at }) => at));
    const mine = windows.filter(({ nodes }) => nodes === null || nodes.includes(this.node));
    const counting = underMaintenance(this.#whole, this.#counted, whole, mine, this.#settled, to);
    this.#whole = whole.at(-1)?.verdict ?? this.#whole;
    this.#counted = counting.at(-1)?.verdict ?? this.#counted;
    this.#settled = to;
    const before = ({ at, verdict }: Dated<Transition>) =>
      at === verdict.at
        ? verdict.before
        : (whole.find((transition) => transition.at > at)?.verdict.before ?? this.#probes);
    return [
      ...counting.map((one) => ({
        ...one.verdict,
        at: one.at,
        before: before(one),
        ended: one.at === one.verdict.at ? one.verdict.ended : null,
      })),
      ...transitions.filter(({ check }) => check !== WHOLE),
      ...(end ? end.endings.map((ending) => ({ ...ending, at: end.at })) : []),
    ].map((transition) => ({ ...transition, node: this.node, probe: this.probe }));
  }

  /** The hours of response times that have ended; they are given once. */
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

/** The latest texts as JSON by check; messages are JSON already. */
function latestOf({ standing }: ProbeState): string | null {
  const members = [...standing].flatMap(([check, verdict]) => {
    const ending = endingOf(verdict);
    if (!ending) return [];
    const { error, message, failures } = ending;
    const words = JSON.stringify({ error, failures }).slice(0, -1);
    return [`${JSON.stringify(check)}:${words}${message === null ? '' : `,"message":${message}`}}`];
  });
  return members.length === 0 ? null : `{${members.join()}}`;
}

/** The start of a probe that was never looked at. */
export const newcomer = (settled: number): ResumedProbe => ({
  state: NOTHING_KNOWN,
  maintained: false,
  probes: 0,
  hour: null,
  settled,
});
