import { storeByBisection } from '../db/bisect-insert.ts';
import { toErrorMessage } from '../lib/errors.ts';
import type { LatencyHour } from './latency-store.ts';
import { storeHours } from './latency-store.ts';
import type { AcquiredObserver, LedgerBatch, LedgerTransition, ObserverAbsence } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { LedgerKeeper } from './ledger-keeper.ts';
import type { ProberContext } from './prober-context.ts';
import type { WatchedProbe } from './watched-probe.ts';

/** Interval between two measurements of the clock of the database, in ms. */
const SYNCHRONISE_EVERY_MS = 5_000;

/**
 * Writes the observations of an observer. A batch that could not be written is repeated with the next one.
 */
export class LedgerWriter {
  readonly #context: ProberContext;
  readonly #clock: LedgerClock;
  readonly #keeper: LedgerKeeper;
  /** Ended absences that have no wall times yet. */
  #ended: ObserverAbsence[] = [];
  /** Wall time up to which announced maintenance was queried. */
  #settled: number;
  #unsent: { transitions: LedgerTransition[]; absences: ObserverAbsence[]; hours: LatencyHour[] };
  #synchronisedAt = 0;

  /**
   * @param settled wall time up to which the ledger is final
   * @param transitions transitions to write immediately
   */
  constructor(
    context: ProberContext,
    clock: LedgerClock,
    settled: number,
    acquired: AcquiredObserver,
    transitions: LedgerTransition[],
  ) {
    this.#context = context;
    this.#clock = clock;
    this.#keeper = new LedgerKeeper(context, context.steady, settled, acquired);
    this.#settled = settled;
    this.#unsent = { transitions, absences: [], hours: [] };
  }

  /** Wall time up to which the ledger is final. */
  get settled(): number {
    return this.#settled;
  }

  /** Adds an ended absence, in moments of the monotonic clock. */
  addAbsence(absence: ObserverAbsence): void {
    this.#ended.push(absence);
  }

  /** Adds an absence whose start and end are wall times. */
  addSkippedTime(absence: ObserverAbsence): void {
    this.#unsent.absences.push(absence);
  }

  /**
   * Writes everything that is final. Must not be called concurrently.
   * @param settled returns the moment of the monotonic clock before which nothing can change
   * @returns the written probes
   * @throws LeaseLostError if another process acquired the observer
   * @throws database errors
   */
  async write(
    probesOf: () => readonly WatchedProbe[],
    settled: () => number,
  ): Promise<readonly WatchedProbe[]> {
    await this.#synchronise();
    if (this.#clock.isDoubtful) {
      await this.#keeper.write({ heartbeat: null, absences: [], transitions: [], probes: [] });
      return [];
    }
    const heartbeat = this.#clock.toWall(settled());
    const probes = await this.#collect(probesOf, heartbeat);
    const { transitions, absences, hours } = this.#unsent;
    const moved = probes.filter(({ dirty }) => dirty);
    const batch: LedgerBatch = {
      heartbeat,
      absences: [...absences],
      transitions: [...transitions],
      probes: moved.map((probe) => probe.progress(this.#clock)),
    };
    for (const probe of moved) probe.dirty = false;
    const hourCount = hours.length;
    try {
      await this.#keeper.write(batch);
      transitions.splice(0, batch.transitions.length);
      absences.splice(0, batch.absences.length);
      await this.#storeHours(hours.slice(0, hourCount));
      hours.splice(0, hourCount);
      return probes;
    } catch (error) {
      for (const probe of moved) probe.dirty = true;
      throw error;
    }
  }

  /** Collects the observations of the probes up to a wall time, with announced maintenance applied. */
  async #collect(probesOf: () => readonly WatchedProbe[], settled: number): Promise<readonly WatchedProbe[]> {
    // Observations may be later than the final time.
    const to = Math.max(settled, this.#clock.toWall(this.#clock.now()));
    const windows = await this.#context.maintenance(this.#settled, to);
    this.#settled = settled;
    const { transitions, absences, hours } = this.#unsent;
    for (const { from, to, ...more } of this.#ended.splice(0)) {
      const absence = { ...more, from: this.#clock.toWall(from), to: this.#clock.toWall(to) };
      if (absence.from < absence.to) absences.push(absence);
    }
    const probes = probesOf();
    for (const probe of probes) {
      transitions.push(...probe.transitionsUntil(settled, windows, this.#clock));
      hours.push(...probe.endedHours());
    }
    return probes;
  }

  /** Measures the clock of the database at the interval. */
  async #synchronise(): Promise<void> {
    const now = this.#context.steady();
    if (now - this.#synchronisedAt < SYNCHRONISE_EVERY_MS) return;
    this.#synchronisedAt = now;
    await this.#context.synchronise?.();
  }

  async #storeHours(hours: readonly LatencyHour[]): Promise<void> {
    const { sql, observer, wall, log } = this.#context;
    const refused = await storeByBisection(hours, (some) => storeHours(sql, observer, some, wall()));
    for (const { item, error } of refused)
      log.warn(
        { node: item.node, probe: item.probe, hour: new Date(item.hour), cause: toErrorMessage(error) },
        'the response times of an hour could not be stored',
      );
  }
}
