import { setTimeout as delay } from 'node:timers/promises';
import { storableText } from '../datasets/storable-text.ts';
import { LeaseLost, messageOf } from '../lib/errors.ts';
import { wordsOf } from '../upstreams/failure.ts';
import { type Absence, type LooksByProbe, leaveObserver } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { probeKey } from './ledger-parts.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Seldom } from './log-throttle.ts';
import { OtherNodes } from './other-nodes.ts';
import type { Look, ProberContext } from './prober-context.ts';
import { Rounds } from './rounds.ts';
import { type TakenLedger, takeLedger } from './take-ledger.ts';
import { newcomer, WatchedProbe } from './watched-probe.ts';

/** The longest time between two ticks that still counts as watching, ms. */
const STALL = 2_000;
/** The longest pause between two ticks, ms. */
const LONGEST_PAUSE = 250;
const SHORT_PAUSE = 50;
/** The most looks that begin in one tick: more would block the event loop. */
const MOST_AT_ONCE = 40;
/** A first failure is confirmed after 2 to 5 s: the least time, and the random part. */
const CONFIRM_LEAST = 2_500;
const CONFIRM_SPREAD = 2_000;
/** A check's timestamp that is stalled for so many intervals, and so long at least in ms, is stale. */
const STALE_INTERVALS = 5;
const STALE_LEAST = 150_000;
const FLUSH_EVERY = 1_000;
const TELL_EVERY = 60_000;
/** The longest that looks under way may hold up the end, ms. */
const LAST_LOOKS = 2_000;

/** The clock of the database went back for good: the prober has to take its ledger over again. */
export class ClockWentBack extends Error {
  override readonly name = 'ClockWentBack';

  constructor() {
    super('the clock of the database was set back');
  }
}

/**
 * Watches every probe of one observer: it asks each once an interval, spread evenly, and writes changes once a second. The
 * time in which the process is off, asleep or stalled is an absence of the observer. An absence ends when every probe that
 * is overdue has answered.
 */
export class Prober {
  readonly #context: ProberContext;
  readonly #clock: LedgerClock;
  readonly #rounds: Rounds<WatchedProbe>;
  readonly #probes: readonly WatchedProbe[];
  readonly #others: OtherNodes;
  readonly #writer: LedgerWriter;
  readonly #failed: Seldom;
  readonly #stopping = new AbortController();
  /** Looks at other moments than the regular ones: confirmations. */
  #again: { readonly at: number; readonly probe: WatchedProbe }[] = [];
  #lastTick: number;
  /** The absence that goes on; null: there is none now. */
  #absence: Omit<Absence, 'to'> | null;
  /** Probes whose looks the end of the absence waits for; null: not all overdue looks have begun. */
  #awaited: Set<WatchedProbe> | null = null;
  /** The clock went back for good: what is written lies after its time. */
  #clockWentBack = false;
  #flushing: Promise<void> | null = null;

  private constructor(context: ProberContext, { clock, taken, ledger, settled }: TakenLedger) {
    this.#context = context;
    this.#clock = clock;
    const now = clock.now();
    const { heartbeat } = taken;
    this.#failed = new Seldom(context.steady, TELL_EVERY);
    this.#probes = context.targets.map(
      ({ node, probe }) => new WatchedProbe(node, probe, ledger.of(node, probe) ?? newcomer(settled)),
    );
    // At the start every probe is due: all are asked at once, and then at their regular moments.
    this.#rounds = new Rounds(this.#probes, context.every, now - context.every + 1);
    const watched = new Set(context.targets.map(({ node, probe }) => probeKey(node, probe)));
    this.#writer = new LedgerWriter(context, clock, settled, taken, ledger.transitions(watched));
    this.#others = new OtherNodes(clock, ledger.of, (node, probe) => watched.has(probeKey(node, probe)));
    this.#lastTick = now;
    this.#absence = {
      from: heartbeat === null ? now : clock.toSteady(heartbeat),
      reason: 'the recorder was off',
      looks: this.#looks(),
    };
  }

  /** Takes the observer over. @returns null where another process has it */
  static async begin(context: ProberContext): Promise<Prober | null> {
    const ledger = await takeLedger(context);
    return ledger && new Prober(context, ledger);
  }

  /** Begins the looks that are due. Must be called at least every quarter of a second. */
  tick(): void {
    const now = this.#clock.now();
    const moved = this.#clock.compare();
    if (moved) {
      this.#context.log.warn({ milliseconds: moved.by }, 'the clock was moved');
      if (moved.by < 0) this.#clockWentBack = true;
      if (moved.skipped)
        this.#writer.addSkippedTime({
          ...moved.skipped,
          reason: 'the clock was set forward',
          looks: this.#looks(),
        });
    }
    if (this.#stalled(now)) this.#pause(now);
    this.#lastTick = now;
    const again = this.#again.filter(({ at }) => at <= now);
    this.#again = this.#again.filter(({ at }) => at > now);
    for (const { probe } of again) this.#ask(probe, now);
    for (const { probe, planned } of this.#rounds.due(now, MOST_AT_ONCE)) {
      this.#context.asked?.(now - planned);
      this.#ask(probe, now);
    }
    if (this.#absence === null || this.#rounds.late(now)) return;
    this.#awaited ??= new Set(this.#probes.filter(({ askedAt }) => askedAt !== null));
    this.#endAbsence(now);
  }

  /** Begins an absence, and repeats the looks under way: their answers may be from before the pause. */
  #pause(now: number): void {
    this.#absence ??= {
      from: this.#lastTick,
      reason: 'the recorder was asleep or stalled',
      looks: this.#looks(),
    };
    this.#awaited = null;
    for (const probe of this.#probes)
      if (probe.askedAt !== null) {
        probe.discardLook();
        this.#again.push({ at: now, probe });
      }
  }

  /** Ends the absence once every overdue look was answered: until then the states are those of before. */
  #endAbsence(now: number): void {
    if (this.#absence === null || this.#awaited === null || this.#awaited.size > 0) return;
    this.#writer.addAbsence({ ...this.#absence, to: now });
    this.#absence = null;
    this.#awaited = null;
  }

  /** All probes: the configured ones, and those of other nodes that answer now. */
  get #watched(): WatchedProbe[] {
    return [...this.#probes, ...this.#others.answering];
  }

  /** Returns the number of looks so far, by node and probe. */
  #looks(): LooksByProbe {
    const looks: Record<string, Record<string, number>> = {};
    for (const { node, probe, looks: count } of this.#watched)
      looks[node] = { ...looks[node], [probe]: count };
    return looks;
  }

  /** Writes what is settled. @throws LeaseLost when another process took the observer over; database errors */
  async flush(): Promise<void> {
    // One write at a time. What the last one could not write comes with the next.
    if (this.#flushing) return this.#flushing;
    this.#flushing = this.#write().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** Watches until the signal comes, or another process has the observer. @returns when all is written */
  async run(signal: AbortSignal): Promise<void> {
    const { log, steady } = this.#context;
    let lost: unknown = null;
    let failing: Seldom | null = null;
    const flushes = setInterval(() => {
      this.flush().then(
        () => {
          if (failing) log.info('the health ledger is written again');
          failing = null;
        },
        (error: unknown) => {
          failing ??= new Seldom(steady, TELL_EVERY);
          if (error instanceof LeaseLost || error instanceof ClockWentBack) lost = error;
          else if (failing.mayTell())
            log.warn(
              { cause: messageOf(error) },
              'writing the health ledger failed; it is tried again every second',
            );
        },
      );
    }, FLUSH_EVERY);
    try {
      while (!signal.aborted && !lost) {
        this.tick();
        const pause = Math.min(LONGEST_PAUSE, Math.max(5, this.#rounds.next - this.#clock.now()));
        await delay(pause, undefined, { signal }).catch(() => {});
      }
    } finally {
      clearInterval(flushes);
      if (!lost) await this.#end();
      this.#stopping.abort();
    }
  }

  /** Looks once at everything, confirms what failed, writes it and lets the observer go. */
  async once(signal: AbortSignal): Promise<void> {
    const done = () =>
      this.#probes.every(({ dirty, askedAt }) => dirty && askedAt === null) &&
      this.#watched.every(({ suspect }) => suspect === null);
    do {
      this.tick();
      await delay(SHORT_PAUSE, undefined, { signal }).catch(() => {});
    } while (!signal.aborted && !done());
    await this.#end();
    this.#stopping.abort();
  }

  /** Regular moments that passed without a look while it watched. */
  get missed(): number {
    return this.#rounds.missed;
  }

  /** Waits for the looks under way, writes all there is and lets the observer go. */
  async #end(): Promise<void> {
    const { sql, observer, holder, log } = this.#context;
    for (
      let waited = 0;
      waited < LAST_LOOKS && this.#probes.some(({ askedAt }) => askedAt !== null);
      waited += 50
    )
      await delay(50);
    try {
      await this.#flushing;
      await this.flush();
      await leaveObserver(sql, observer, holder);
    } catch (error) {
      log.warn({ cause: messageOf(error) }, 'the end of the health ledger could not be written');
    }
  }

  #stalled(now: number): boolean {
    return now - this.#lastTick > STALL;
  }

  #ask(probe: WatchedProbe, now: number): void {
    if (probe.askedAt !== null) return;
    const look = probe.beginLook(now);
    this.#context
      .look(probe, this.#stopping.signal)
      .catch((error: unknown) => (this.#stopping.signal.aborted ? null : this.#ownFault(probe, error)))
      .then((result) => {
        if (probe.endLook(look) && result) this.#take(probe, result);
      });
  }

  /** A look that failed in the recorder itself counts as a look with the state `unknown`. */
  #ownFault({ node, probe }: WatchedProbe, error: unknown): Look {
    if (this.#failed.mayTell())
      this.#context.log.warn({ node, probe, err: error }, 'a look at a node failed');
    const why = storableText(`this recorder could not look: ${wordsOf(messageOf(error))}`);
    return { state: 'unknown', error: why, checks: null, latency: null };
  }

  /** Takes an answer that arrived now. An answer across a pause is discarded: it may be from before the pause. */
  #take(probe: WatchedProbe, { latency, other, ...look }: Look): void {
    const at = this.#clock.now();
    if (this.#stalled(at)) {
      this.#again.push({ at, probe });
      return;
    }
    const { every, random = Math.random } = this.#context;
    const staleAfter =
      probe.probe.split(':')[0] === 'health'
        ? Math.max(every * STALE_INTERVALS, STALE_LEAST)
        : Number.POSITIVE_INFINITY;
    probe.take({ ...look, at }, latency, staleAfter, this.#clock.toWall(at));
    const another = this.#others.take(probe, other, at, staleAfter, this.#writer.settled);
    if (probe.suspect || another?.suspect)
      this.#again.push({ at: at + CONFIRM_LEAST + random() * CONFIRM_SPREAD, probe });
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

  /** The moment up to which nothing can change any more: before the earliest failure that waits for a second look. */
  #settled(): number {
    return this.#watched.reduce(
      (earliest, { suspect }) => (suspect ? Math.min(earliest, suspect.at) : earliest),
      this.#absence?.from ?? this.#clock.now(),
    );
  }
}
