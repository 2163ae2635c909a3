import type { RequestedWindow, SourcePage, Window } from '../datasets/contract.ts';
import { refusesRows, storeByBisection, TooManyRefusalsError } from '../db/bisect-insert.ts';
import { LeaseLostError, toErrorMessage } from '../lib/errors.ts';
import { POSTGRESQL_ATTRIBUTES, untraced } from '../lib/trace.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import type { ActiveFeed } from './active-feed.ts';
import { ClaimableRange } from './claimable-range.ts';
import { type Commit, type CommitPages, type CommitResult, isCommitting, type Outcome } from './commit.ts';
import { CommitQueue } from './commit-queue.ts';
import { compileFeed, createRunCommit } from './compiled-feed.ts';
import type { RecordingContext, RunClient, RunResult } from './context.ts';
import { verifyChain } from './identity/chain-continuity.ts';
import { type Job, priorityOf } from './job.ts';
import { type ObservationCoverage, observedCoverage } from './observed-coverage.ts';
import { findOtherTarget } from './other-target.ts';
import { emptyBuffer, type PageBuffer, splitByKeyRepetition } from './page-buffer.ts';
import { PageReader } from './page-reader.ts';
import { updatesFreshness } from './proof.ts';
import { targetKey } from './target-key.ts';
import { prefetch, walk } from './walk.ts';

/**
 * Maximum number of rejected rows of one commit. If more rows are rejected, single items are not the cause,
 * and the run fails.
 */
const MAX_REJECTED_ROWS = 1_000;

/** A run in progress: reads the pages of a walk and commits them. */
export class Run {
  readonly #context: RecordingContext;
  readonly #feed: ActiveFeed;
  readonly #job: Job;
  readonly #runId: number;
  readonly #key: string;
  /** Time before the first request, in ms since 1970. */
  readonly #startedAt: number;
  readonly #claimable: ClaimableRange;
  readonly #reader: PageReader;
  readonly #store: CommitPages;
  readonly #client: RunClient;
  readonly #progress: ((covered: Window | null) => void) | undefined;
  /** Arrival of the first page, ISO 8601. Null: no page arrived. */
  #observedAt: string | null = null;
  #rowsWritten: readonly number[];

  constructor(
    context: RecordingContext,
    feed: ActiveFeed,
    job: Job,
    runId: number,
    signal: AbortSignal,
    progress?: (covered: Window | null) => void,
  ) {
    this.#context = context;
    this.#feed = feed;
    this.#job = job;
    this.#runId = runId;
    this.#key = targetKey(job.target);
    this.#startedAt = context.clock();
    this.#claimable = new ClaimableRange(feed, job, this.#startedAt);
    const compiled = compileFeed(feed);
    this.#reader = new PageReader(feed, job, compiled.decoders, this.#claimable);
    this.#store = createRunCommit(compiled);
    this.#progress = progress;
    this.#rowsWritten = feed.datasets.map(() => 0);
    this.#client = context.open(feed, job, {
      weight: feed.source.weight,
      priority: priorityOf[job.reason],
      signal,
      clock: context.clock,
      pageSize: feed.pageSize,
      ...(context.traced && { traced: context.traced }),
    });
  }

  async run(): Promise<RunResult> {
    let failure: UpstreamFailure | null = null;
    try {
      await this.#readPages();
      await this.#addOtherTargets();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      failure = toFailure(error);
      // Rows since the last commit may also come from the other source.
      if (failure.kind === 'identity') this.#reader.takeBuffer();
    }
    const { unconfirmed } = await this.#commit({ failure }).catch((error: unknown) => {
      // Rows that could not be verified are dropped. After any other error of a failed run, the commit is not
      // repeated.
      if (failure && !(error instanceof UpstreamFailure)) throw error;
      if (!failure || isIdentityFailure(error)) failure = toFailure(error);
      return this.#commit({ failure });
    });
    const outcome = this.#outcomeOf(failure);
    return {
      runId: this.#runId,
      feed: this.#feed.source.name,
      datasets: this.#feed.datasets.map(({ name }) => name),
      target: this.#key,
      window: this.#job.window,
      status: unconfirmed && outcome === 'done' ? 'partial' : outcome,
      ...this.#reader.totals,
      rowsWritten: this.#rowsWritten,
      requests: this.#client.usage.requests,
      units: this.#client.usage.units,
      error: failure?.message ?? null,
      later: failure?.later ?? false,
    };
  }

  #outcomeOf(failure: UpstreamFailure | null): Outcome {
    if (failure?.kind === 'cancelled') return 'stopped';
    if (failure) return failure.kind === 'unsupported' ? 'unsupported' : 'failed';
    return this.#incomplete().every((reason) => reason === null) ? 'done' : 'partial';
  }

  /** Returns for each dataset the reason for which it is incomplete, or null. */
  #incomplete(): (string | null)[] {
    return this.#feed.datasets.map((_, at) => this.#reader.evidence.incomplete(at));
  }

  async #readPages(): Promise<void> {
    const queue = new CommitQueue({
      rows: () => this.#reader.rowCount,
      isIdle: () => !isCommitting(this.#context.commits),
      commit: () => this.#commit(null),
    });
    try {
      await this.#client.verifySource?.();
      const pages = walk(this.#feed, this.#client, this.#job.target, requestedBy(this.#job));
      for await (const page of prefetch(this.#stamped(pages))) {
        this.#reader.add(page, this.#context.clock());
        // The last page is committed together with the end of the run.
        if (!page.last) await queue.pagesArrived();
      }
    } catch (error) {
      await queue.end(); // the end of a failed run is committed after its rows, and only if they are stored
      throw error;
    }
    await queue.end();
  }

  /**
   * Adds other targets that record the same rows to the evidence. A walk cannot retire members that these
   * targets may contain.
   */
  async #addOtherTargets(): Promise<void> {
    for (const [at, dataset] of this.#feed.datasets.entries()) {
      const other = await findOtherTarget(this.#context.sql, dataset, this.#job.target);
      if (other !== null) this.#reader.evidence.addOtherTarget(at, other);
    }
  }

  /** Stores the arrival time of the first page, before the next one is requested. */
  async *#stamped(pages: AsyncIterable<SourcePage>): AsyncGenerator<SourcePage> {
    for await (const page of pages) {
      this.#observedAt ??= new Date(this.#client.now).toISOString();
      yield page;
    }
  }

  async #commit(ending: RunEnding | null): Promise<CommitResult> {
    const buffer = this.#reader.takeBuffer();
    await this.#verify(buffer);
    if (hasContradictions(buffer)) await this.#storeByHalves(buffer);
    const committed = await this.#write(buffer, ending).catch(async (error: unknown) => {
      if (!refusesRows(error) || buffer.rowCount === 0) throw error;
      await this.#storeByHalves(buffer);
      return this.#write(buffer, ending);
    });
    this.#progress?.(buffer.proven);
    return committed;
  }

  /** @throws UpstreamFailure (identity) if the buffer does not come from the recorded source */
  async #verify({ links, head, pages }: PageBuffer): Promise<void> {
    const { sql } = this.#context;
    if (pages > 0) await this.#client.verifySource?.();
    for (const [at, dataset] of this.#feed.datasets.entries())
      await verifyChain(sql, this.#client, dataset, this.#job.target, { links: links[at] ?? [], head });
  }

  /** Stores only the rows, and quarantines those that the database rejects. The caller commits the rest. */
  async #storeByHalves(buffer: PageBuffer): Promise<void> {
    const rest = emptyBuffer(this.#feed);
    const parts = buffer.rows.flatMap((rows, at) => rows.map((decoded) => ({ at, decoded })));
    const store = async (some: readonly (typeof parts)[number][]) => {
      const rows = this.#feed.datasets.map((_, at) =>
        some.flatMap((part) => (part.at === at ? [part.decoded] : [])),
      );
      await this.#write({ ...rest, rows }, null);
    };
    for (const some of splitByKeyRepetition(parts))
      for (const { item: part, error } of await storeByBisection(some, store, MAX_REJECTED_ROWS))
        this.#reader.quarantine(buffer, part.at, {
          reason: `PostgreSQL: ${error.message}`,
          item: part.decoded.item,
          key: part.decoded.row,
        });
    buffer.rows = rest.rows;
    buffer.rowCount = 0;
  }

  async #write(buffer: PageBuffer, ending: RunEnding | null): Promise<CommitResult> {
    const { commits, traced = untraced } = this.#context;
    const commit = await this.#toCommit(buffer, ending);
    const attributes = {
      ...POSTGRESQL_ATTRIBUTES,
      'recorder.run.id': this.#runId,
      'recorder.pages': commit.pages,
      'recorder.rows': commit.batches.reduce((sum, { rows }) => sum + rows.length, 0),
      'recorder.run.ends': commit.end !== null,
    };
    const committed = await traced({ name: 'commit', isClientCall: true, attributes }, () =>
      this.#store(commits, commit),
    );
    this.#rowsWritten = this.#rowsWritten.map((total, at) => total + (committed.rowsWritten[at] ?? 0));
    return committed;
  }

  async #toCommit(buffer: PageBuffer, ending: RunEnding | null): Promise<Commit> {
    const { clock, sql } = this.#context;
    const { source, datasets } = this.#feed;
    const { window, plannedAt, reason } = this.#job;
    const { evidence, proven, note } = this.#reader;
    const recordedAt = new Date(clock()).toISOString();
    const observedAt = this.#observedAt ?? recordedAt;
    const isComplete = ending !== null && ending.failure === null;
    const observed = isComplete ? await this.#observedCoverage(observedAt) : [];
    const claimed = await this.#claimable.partOf(sql, buffer.proven, clock());
    return {
      target: this.#job.target,
      targetKey: this.#key,
      runId: this.#runId,
      observedAt,
      recordedAt,
      late: false,
      batches: datasets.map((_, at) => ({
        rows: (buffer.rows[at] ?? []).map(({ row }) => row),
        quarantinedKeys: buffer.quarantinedKeys[at] ?? [],
        absence: isComplete ? evidence.absence(at, proven ?? window) : null,
      })),
      covered: datasets.map((_, at) => observed[at]?.covered ?? claimed),
      answered: source.range?.index ? buffer.proven : null,
      shownFrom: proven?.from ?? null,
      indexProgress: this.#claimable.progress,
      gaps: datasets.map((_, at) => observed[at]?.gap ?? null),
      quarantined: buffer.quarantined,
      released: [],
      pages: buffer.pages,
      items: buffer.items,
      requests: this.#client.usage.requests,
      units: this.#client.usage.units,
      window,
      note,
      updatesFreshness: updatesFreshness(source, this.#job, this.#startedAt),
      isSweep: reason === 'sweep',
      plannedAt: plannedAt === undefined ? null : new Date(plannedAt).toISOString(),
      end: ending && {
        outcome: this.#outcomeOf(ending.failure),
        error: ending.failure?.message ?? null,
        upstreamQueried: true,
        incomplete: this.#incomplete(),
      },
    };
  }

  /**
   * Returns the coverage of an observation. Time without an observation is a gap only if the target is polled
   * by schedule.
   */
  async #observedCoverage(observedAt: string): Promise<ObservationCoverage[]> {
    const { source, targets } = this.#feed;
    const isPolled = targets.some((target) => targetKey(target) === this.#key);
    if (source.range || source.once || !isPolled) return [];
    return observedCoverage(this.#context.sql, this.#feed, this.#key, Date.parse(observedAt));
  }
}

/** Returns the window of a job, with the lower bound of its pages. */
function requestedBy({ window, reach }: Job): RequestedWindow | null {
  return window && reach !== undefined ? { ...window, reach } : window;
}

/** End of a run, with its failure or null. */
interface RunEnding {
  readonly failure: UpstreamFailure | null;
}

/** Returns whether rows contradict earlier rows of the same key. A statement can write a key only once. */
const hasContradictions = ({ rows }: PageBuffer) =>
  rows.some((some) => some.some(({ after }) => after !== null));

const isIdentityFailure = (error: unknown) => error instanceof UpstreamFailure && error.kind === 'identity';

/**
 * Converts an error to the failure of the run.
 * @throws any error that is not caused by the upstream or its data
 */
function toFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof TooManyRefusalsError || refusesRows(error))
    return new UpstreamFailure('malformed', `the response cannot be stored: ${toErrorMessage(error)}`);
  throw error;
}
