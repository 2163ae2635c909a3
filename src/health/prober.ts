import { setTimeout as delay } from 'node:timers/promises';
import { storableText } from '../datasets/storable-text.ts';
import { LeaseLostError, toErrorMessage } from '../lib/errors.ts';
import { sanitizeMessage } from '../upstreams/failure.ts';
import { type AcquiredLedger, acquireLedger } from './acquire-ledger.ts';
import { type ObserverAbsence, type ProbeCounts, releaseObserver } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { probeKey } from './ledger-parts.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { LogThrottle } from './log-throttle.ts';
import { OtherNodes } from './other-nodes.ts';
import type { ProbeQueryResult, ProberContext } from './prober-context.ts';
import { ProbeSchedule } from './rounds.ts';
import { createInitialProbe, WatchedProbe } from './watched-probe.ts';

/** Maximum time between two ticks, in ms. After a longer time, an absence starts. */
const MAX_TICK_GAP_MS = 2_000;
/** Maximum pause between two ticks, in ms. */
const MAX_PAUSE_MS = 250;
const SINGLE_ROUND_TICK_MS = 50;
/** Maximum number of queries that start in one tick. More would block the event loop. */
const MAX_QUERIES_PER_TICK = 40;
/** Minimum delay of the confirmation of a first failure, in ms. */
const MIN_CONFIRM_DELAY_MS = 2_500;
/** Maximum random addition to {@link MIN_CONFIRM_DELAY_MS}, in ms. */
const CONFIRM_SPREAD_MS = 2_000;
/**
 * Number of intervals without a change after which the timestamp of a check is stale. The timestamp must also
 * be unchanged for at least {@link MIN_STALE_MS} ms.
 */
const STALE_INTERVALS = 5;
const MIN_STALE_MS = 150_000;
/**
 * Minimum time after which a query in progress counts as failed, in ms. Queries have shorter timeouts of
 * their own.
 */
const MAX_QUERY_MS = 60_000;
const FLUSH_INTERVAL_MS = 1_000;
const LOG_INTERVAL_MS = 60_000;
/** Maximum time for which the end waits for queries in progress, in ms. */
const LAST_QUERIES_TIMEOUT_MS = 2_000;

/**
 * Error for a clock of the database that was set back permanently. The prober must then acquire its ledger
 * again.
 */
export class ClockWentBack extends Error {
  override readonly name = 'ClockWentBack';

  constructor() {
    super('the clock of the database was set back');
  }
}

/** An absence that has not ended. */
interface OpenAbsence extends Omit<ObserverAbsence, 'to' | 'reason'> {
  /**
   * Null: the observer is new. The ledger of a new observer has no time before the first results, so that
   * nothing is missing.
   */
  readonly reason: string | null;
}

/**
 * Probes all targets of one observer. The prober queries each once per interval, spread evenly, and writes
 * changes once a second. Time in which the process is off, asleep or stalled is an absence of the observer.
 * An absence ends when every overdue probe has a result.
 */
export class Prober {
  readonly #context: ProberContext;
  readonly #clock: LedgerClock;
  readonly #rounds: ProbeSchedule<WatchedProbe>;
  readonly #probes: readonly WatchedProbe[];
  readonly #others: OtherNodes;
  readonly #writer: LedgerWriter;
  readonly #failed: LogThrottle;
  readonly #stopping = new AbortController();
  /** Queries outside of the regular schedule: confirmations. */
  #again: { readonly at: number; readonly probe: WatchedProbe }[] = [];
  #lastTick: number;
  /** Absence in progress, or the time until the first results of a new observer. Null: there is none. */
  #absence: OpenAbsence | null;
  /**
   * Probes with queries that must end before the absence ends. Null: not all overdue queries have started.
   */
  #awaited: Set<WatchedProbe> | null = null;
  /** Number of queries before the clocks contradicted each other. */
  #countsBeforeDoubt: ProbeCounts = {};
  /** True if the clock was set back permanently, so that the written ledger is ahead of the clock. */
  #clockWentBack = false;
  #flushing: Promise<void> | null = null;

  private constructor(context: ProberContext, { clock, acquired, ledger, settled }: AcquiredLedger) {
    this.#context = context;
    this.#clock = clock;
    const now = clock.now();
    const { heartbeat } = acquired;
    this.#failed = new LogThrottle(context.steady, LOG_INTERVAL_MS);
    this.#probes = context.targets.map(
      ({ node, probe }) =>
        new WatchedProbe(node, probe, ledger.of(node, probe) ?? createInitialProbe(settled)),
    );
    // At the start every probe is due: all are queried immediately, and then by schedule.
    this.#rounds = new ProbeSchedule(this.#probes, context.every, now - context.every + 1);
    const watched = new Set(context.targets.map(({ node, probe }) => probeKey(node, probe)));
    this.#writer = new LedgerWriter(context, clock, settled, acquired, ledger.transitions(watched));
    this.#others = new OtherNodes(clock, ledger.of, (node, probe) => watched.has(probeKey(node, probe)));
    this.#lastTick = now;
    this.#absence = {
      from: heartbeat === null ? now : clock.toSteady(heartbeat),
      reason: heartbeat === null ? null : 'the recorder was off',
      probeCounts: this.#probeCounts(),
    };
  }

  /**
   * Acquires the observer and creates its prober.
   * @returns null if another process holds the observer
   */
  static async acquire(context: ProberContext): Promise<Prober | null> {
    const ledger = await acquireLedger(context);
    return ledger && new Prober(context, ledger);
  }

  /** Starts the queries that are due. Must be called at least every 250 ms. */
  tick(): void {
    const now = this.#clock.now();
    this.#compareClocks();
    if (this.#stalled(now)) this.#pause(now);
    this.#lastTick = now;
    const again = this.#again.filter(({ at }) => at <= now);
    this.#again = this.#again.filter(({ at }) => at > now);
    for (const { probe } of again) this.#query(probe, now);
    for (const { probe, planned } of this.#rounds.due(now, MAX_QUERIES_PER_TICK)) {
      this.#context.queryStarted?.(now - planned);
      this.#query(probe, now);
    }
    if (this.#absence === null || this.#rounds.late(now)) return;
    this.#awaited ??= new Set(this.#probes.filter(({ queryStartedAt }) => queryStartedAt !== null));
    this.#endAbsence(now);
  }

  /** Compares the clocks. Time that the wall clock skipped is an absence. */
  #compareClocks(): void {
    const wasDoubtful = this.#clock.isDoubtful;
    const moved = this.#clock.compare();
    // Later queries belong to the time after the change.
    if (!wasDoubtful) this.#countsBeforeDoubt = this.#clock.isDoubtful ? this.#probeCounts() : {};
    if (!moved) return;
    this.#context.log.warn({ milliseconds: moved.by }, 'the clock was changed');
    if (moved.by < 0) this.#clockWentBack = true;
    if (moved.skipped)
      this.#writer.addSkippedTime({
        ...moved.skipped,
        reason: 'the clock was set forward',
        probeCounts: this.#countsBeforeDoubt,
      });
  }

  /**
   * Starts an absence, and repeats the queries in progress, because their responses may be from before the
   * pause.
   */
  #pause(now: number): void {
    if (this.#absence === null || this.#absence.reason === null)
      this.#absence = {
        from: this.#lastTick,
        reason: 'the recorder was asleep or stalled',
        probeCounts: this.#probeCounts(),
      };
    this.#awaited = null;
    for (const probe of this.#probes)
      if (probe.queryStartedAt !== null) {
        probe.discardQuery();
        this.#again.push({ at: now, probe });
      }
  }

  /**
   * Ends the absence if every overdue query has a result. Until then, each probe keeps its state from before
   * the absence.
   */
  #endAbsence(now: number): void {
    if (this.#absence === null || this.#awaited === null || this.#awaited.size > 0) return;
    const { reason } = this.#absence;
    if (reason !== null) this.#writer.addAbsence({ ...this.#absence, reason, to: now });
    this.#absence = null;
    this.#awaited = null;
  }

  /** All probes: the configured ones, and those of other nodes that currently respond. */
  get #watched(): WatchedProbe[] {
    return [...this.#probes, ...this.#others.answering];
  }

  /** Returns the number of queries so far, by node and probe. */
  #probeCounts(): ProbeCounts {
    const counts: Record<string, Record<string, number>> = {};
    for (const { node, probe, queryCount: count } of this.#watched)
      counts[node] = { ...counts[node], [probe]: count };
    return counts;
  }

  /**
   * Writes everything that is final.
   * @throws LeaseLostError if another process acquired the observer
   * @throws database errors
   */
  async flush(): Promise<void> {
    // Only one write at a time. Data that the last one could not write is part of the next.
    if (this.#flushing) return this.#flushing;
    this.#flushing = this.#write().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /**
   * Probes until the signal aborts or another process acquires the observer.
   * @returns when everything is written
   */
  async run(signal: AbortSignal): Promise<void> {
    const { log, steady } = this.#context;
    let lost: unknown = null;
    let failing: LogThrottle | null = null;
    const flushes = setInterval(() => {
      this.flush().then(
        () => {
          if (failing) log.info('the health ledger is written again');
          failing = null;
        },
        (error: unknown) => {
          failing ??= new LogThrottle(steady, LOG_INTERVAL_MS);
          if (error instanceof LeaseLostError || error instanceof ClockWentBack) lost = error;
          else if (failing.shouldLog())
            log.warn(
              { cause: toErrorMessage(error) },
              'the health ledger could not be written: retried every second',
            );
        },
      );
    }, FLUSH_INTERVAL_MS);
    try {
      while (!signal.aborted && !lost) {
        this.tick();
        const pause = Math.min(MAX_PAUSE_MS, Math.max(5, this.#rounds.next - this.#clock.now()));
        await delay(pause, undefined, { signal }).catch(() => {});
      }
    } finally {
      clearInterval(flushes);
      if (!lost) await this.#end();
      this.#stopping.abort();
    }
  }

  /** Queries every probe once, confirms failures, writes the results and releases the observer. */
  async once(signal: AbortSignal): Promise<void> {
    const done = () =>
      this.#probes.every(({ dirty, queryStartedAt }) => dirty && queryStartedAt === null) &&
      this.#watched.every(({ suspect }) => suspect === null);
    do {
      this.tick();
      await delay(SINGLE_ROUND_TICK_MS, undefined, { signal }).catch(() => {});
    } while (!signal.aborted && !done());
    await this.#end();
    this.#stopping.abort();
  }

  /** Number of scheduled queries that were skipped since the start of the prober. */
  get missed(): number {
    return this.#rounds.missed;
  }

  /** Waits for the queries in progress, writes everything and releases the observer. */
  async #end(): Promise<void> {
    const { sql, observer, holder, log } = this.#context;
    for (
      let waited = 0;
      waited < LAST_QUERIES_TIMEOUT_MS && this.#probes.some(({ queryStartedAt }) => queryStartedAt !== null);
      waited += 50
    )
      await delay(50);
    try {
      await this.#flushing;
      await this.flush();
      await releaseObserver(sql, observer, holder);
    } catch (error) {
      log.warn({ cause: toErrorMessage(error) }, 'the end of the health ledger could not be written');
    }
  }

  #stalled(now: number): boolean {
    return now - this.#lastTick > MAX_TICK_GAP_MS;
  }

  #query(probe: WatchedProbe, now: number): void {
    if (probe.queryStartedAt !== null) {
      if (now - probe.queryStartedAt < Math.max(this.#context.every, MAX_QUERY_MS)) return;
      this.#addResult(probe, this.#ownFault(probe, new Error('the health request did not finish')));
    }
    const queryNumber = probe.startQuery(now);
    this.#context
      .query(probe, this.#stopping.signal)
      .catch((error: unknown) => (this.#stopping.signal.aborted ? null : this.#ownFault(probe, error)))
      .then((result) => {
        if (!probe.endQuery(queryNumber) || !result) return;
        try {
          this.#addResult(probe, result);
        } catch (error) {
          this.#addResult(probe, this.#ownFault(probe, error));
        }
      });
  }

  /** Converts an error of the recorder itself to a result with the state `unknown`. */
  #ownFault({ node, probe }: WatchedProbe, error: unknown): ProbeQueryResult {
    if (this.#failed.shouldLog())
      this.#context.log.warn({ node, probe, err: error }, 'a probe of a node failed');
    const why = storableText(`this recorder could not probe: ${sanitizeMessage(toErrorMessage(error))}`);
    return { state: 'unknown', error: why, checks: null, latency: null };
  }

  /**
   * Processes a response that arrived now. If the process paused during the query, the response is discarded,
   * because it may be from before the pause.
   */
  #addResult(probe: WatchedProbe, { latency, other, ...observation }: ProbeQueryResult): void {
    const at = this.#clock.now();
    if (this.#stalled(at)) {
      this.#again.push({ at, probe });
      return;
    }
    const { every, random = Math.random } = this.#context;
    const staleAfter =
      probe.probe.split(':')[0] === 'health'
        ? Math.max(every * STALE_INTERVALS, MIN_STALE_MS)
        : Number.POSITIVE_INFINITY;
    probe.addResult({ ...observation, at }, latency, staleAfter, this.#clock.toWall(at));
    const another = this.#others.addResult(probe, other, at, staleAfter, this.#writer.settled);
    if (probe.suspect || another?.suspect)
      this.#again.push({ at: at + MIN_CONFIRM_DELAY_MS + random() * CONFIRM_SPREAD_MS, probe });
    this.#awaited?.delete(probe);
    this.#endAbsence(at);
  }

  async #write(): Promise<void> {
    if (this.#clockWentBack) throw new ClockWentBack();
    const written = await this.#writer.write(
      () => [...this.#probes, ...this.#others.unwritten],
      () => this.#settled(),
    );
    this.#others.forget(written);
  }

  /**
   * Returns the moment before which nothing can change: the earliest failure that waits for a confirmation,
   * or the start of an absence.
   */
  #settled(): number {
    return this.#watched.reduce(
      (earliest, { suspect }) => (suspect ? Math.min(earliest, suspect.at) : earliest),
      this.#absence?.from ?? this.#clock.now(),
    );
  }
}
