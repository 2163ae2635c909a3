import type { Page, RequestedWindow, Window } from '../datasets/contract.ts';
import { refusesRows, storeByBisection, TooManyRefusalsError } from '../db/bisect-insert.ts';
import { LeaseLostError, toErrorMessage } from '../lib/errors.ts';
import { POSTGRESQL_ATTRIBUTES, untraced } from '../lib/trace.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import type { ActiveFeed } from './active-feed.ts';
import { type Commit, type CommitPages, type CommitResult, isCommitting, type Outcome } from './commit.ts';
import { CommitQueue } from './commit-line.ts';
import { compileFeed, createRunCommit } from './compiled-feed.ts';
import type { RecordingContext, RunClient, RunResult } from './context.ts';
import type { DecodedPage, Decoder, RejectedItem } from './decode.ts';
import type { Row } from './histories/rows.ts';
import { type Link, linkReader, verifyChain } from './identity/chain-continuity.ts';
import { claimableUntil, coveredUntil, IndexProgress } from './index-progress.ts';
import { type Job, priorityOf } from './job.ts';
import { observedCoverage } from './observed-coverage.ts';
import { emptyBuffer, type PageBuffer, splitByKeyRepetition } from './page-buffer.ts';
import { prefetch } from './prefetch.ts';
import { claimablePart, updatesFreshness } from './proof.ts';
import { toQuarantinedItem } from './quarantined-item.ts';
import { targetKey } from './target-key.ts';
import { walk } from './walk.ts';
import { WalkEvidence } from './walk-evidence.ts';

/**
 * Maximum number of rejected rows of one commit. With more, the cause is not single items, and the run fails.
 */
const MAX_REJECTED_ROWS = 1_000;

/** A run in progress: reads the pages of a walk and commits them. */
export class Run {
  readonly #context: RecordingContext;
  readonly #feed: ActiveFeed;
  readonly #job: Job;
  readonly #runId: number;
  readonly #key: string;
  readonly #decoders: readonly Decoder[];
  readonly #links: readonly (((row: Row) => Link) | null)[];
  readonly #store: CommitPages;
  readonly #ask: RunClient;
  readonly #progress: ((covered: Window | null) => void) | undefined;
  #buffer: PageBuffer;
  readonly #evidence: WalkEvidence;
  /** The target is polled by schedule, so that time without an observation is a gap. */
  readonly #isObservedRegularly: boolean;
  /** Only for an index: its progress, measured by the items. */
  readonly #progressOfIndex: IndexProgress | null;
  /** Window that the pages of the walk prove together. */
  #proven: Window | null = null;
  /** Only for an index on the axis of heights: the exclusive end of the claimable range. */
  #claimable: number | null = null;
  #shownUntil: number | undefined;
  /** Only for an index on the axis of heights: height below which everything is old enough to be claimed. */
  #settledUntil = 0;
  /** Time before the first request, in ms since 1970. An index may show more while the pages are read. */
  readonly #startedAt: number;
  #observedAt: string | null = null;
  #note: string | null = null;
  readonly #totals = { pages: 0, items: 0, quarantined: 0, rowsWritten: [] as number[] };

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
    this.#startedAt = context.clock();
    this.#key = targetKey(job.target);
    const compiled = compileFeed(feed);
    this.#decoders = compiled.decoders;
    this.#links = feed.datasets.map(linkReader);
    this.#store = createRunCommit(compiled);
    this.#progress = progress;
    this.#buffer = emptyBuffer(feed);
    this.#isObservedRegularly =
      !feed.source.range &&
      !feed.source.once &&
      feed.targets.some((target) => targetKey(target) === this.#key);
    this.#evidence = new WalkEvidence(feed);
    const index = feed.source.range?.index;
    this.#progressOfIndex =
      index && job.window ? new IndexProgress(feed.source.upstream, index, job.target) : null;
    this.#totals.rowsWritten = feed.datasets.map(() => 0);
    this.#ask = context.open(feed, job, {
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
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      failure = toFailure(error);
      // Rows since the last commit also came from another source.
      if (failure.kind === 'identity') this.#buffer = emptyBuffer(this.#feed, this.#buffer);
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
      ...this.#totals,
      requests: this.#ask.usage.requests,
      units: this.#ask.usage.units,
      error: failure?.message ?? null,
      later: failure?.later ?? false,
    };
  }

  #outcomeOf(failure: UpstreamFailure | null): Outcome {
    if (failure?.kind === 'cancelled') return 'stopped';
    if (failure) return failure.kind === 'unsupported' ? 'unsupported' : 'failed';
    return this.#feed.datasets.every((_, at) => this.#evidence.incomplete(at) === null) ? 'done' : 'partial';
  }

  async #readPages(): Promise<void> {
    const line = new CommitQueue({
      rows: () => this.#buffer.rowCount,
      isIdle: () => !isCommitting(this.#context.commits),
      commit: () => this.#commit(null),
    });
    try {
      await this.#ask.verifySource?.();
      for await (const page of prefetch(
        this.#stamped(walk(this.#feed, this.#ask, this.#job.target, requestedBy(this.#job))),
      )) {
        this.#take(page);
        // The last page is committed together with the end of the run.
        if (!page.last) await line.pagesArrived();
      }
    } catch (error) {
      await line.end(); // the end of a failed run is committed after its rows, and only if they are stored
      throw error;
    }
    await line.end();
  }

  /** Stores the arrival time of the first page, before the next one is requested. */
  async *#stamped(walk: AsyncIterable<Page>): AsyncGenerator<Page> {
    for await (const page of walk) {
      this.#observedAt ??= new Date(this.#ask.now).toISOString();
      yield page;
    }
  }

  #take(page: Page): void {
    const buffer = this.#buffer;
    // The whole page is decoded first, so that a rejected page adds no rows and proves nothing.
    if (page.startsList) for (const seen of buffer.seen) seen.startList();
    const answers = this.#feed.datasets.map((dataset, at) =>
      decoded(() => this.#decoded(buffer, at, page.body), dataset.name),
    );
    buffer.pages += 1;
    this.#totals.pages += 1;
    if (page.note !== undefined) this.#note = page.note;
    this.#evidence.addPage(page);
    if (page.proven) {
      buffer.proven = page.proven;
      this.#proven = page.proven;
    }
    this.#claimable = page.claimable ?? this.#claimable;
    if (page.head !== undefined) buffer.head = page.head;
    answers.forEach((answer, at) => {
      if (!answer) return;
      const { items, rows, refused } = answer;
      this.#evidence.addItems(at, answer);
      for (const row of rows) buffer.rows[at]?.push(row);
      const linkOf = this.#links[at];
      if (linkOf) for (const { row } of rows) buffer.links[at]?.push(linkOf(row));
      for (const one of refused) this.#setAside(buffer, at, one);
      buffer.items[at] = (buffer.items[at] ?? 0) + items;
      buffer.rowCount += rows.length;
      this.#totals.items += items;
    });
  }

  /** Decodes the items of a page for one dataset. */
  #decoded(buffer: PageBuffer, at: number, body: unknown): DecodedPage | undefined {
    const [dataset, decoder] = [this.#feed.datasets[at], this.#decoders[at]];
    if (!dataset || !decoder) return undefined;
    const { target } = this.#job;
    const items = dataset.items(body, target);
    const now = this.#context.clock();
    if (at === 0) this.#progressOfIndex?.take(items, now);
    return decoder.items(items, { target, now }, buffer.seen[at]);
  }

  /** Adds an item to the quarantine of the next commit. The stored row of its key is not changed. */
  #setAside(buffer: PageBuffer, at: number, refused: RejectedItem): void {
    const dataset = this.#feed.datasets[at];
    if (!dataset) return;
    buffer.quarantined.push(toQuarantinedItem(dataset, refused));
    this.#totals.quarantined += 1;
    this.#evidence.addQuarantined(at, refused.key);
    if (refused.key) buffer.quarantinedKeys[at]?.push(refused.key);
  }

  async #commit(ending: RunEnding | null): Promise<CommitResult> {
    const buffer = this.#buffer;
    this.#buffer = emptyBuffer(this.#feed, buffer);
    await this.#verify(buffer);
    if (hasContradictions(buffer)) await this.#storeByHalves(buffer);
    const write = async () => this.#write(await this.#commitOf(buffer, ending));
    const committed = await write().catch(async (error: unknown) => {
      if (!refusesRows(error) || buffer.rowCount === 0) throw error;
      await this.#storeByHalves(buffer);
      return write();
    });
    this.#progress?.(buffer.proven);
    return committed;
  }

  /** @throws UpstreamFailure (identity) if the buffer does not come from the recorded source */
  async #verify({ links, head, pages }: PageBuffer): Promise<void> {
    const { sql } = this.#context;
    if (pages > 0) await this.#ask.verifySource?.();
    for (const [at, dataset] of this.#feed.datasets.entries())
      await verifyChain(sql, this.#ask, dataset, this.#job.target, { links: links[at] ?? [], head });
  }

  /** Stores only the rows, and quarantines those that the database rejects. The caller commits the rest. */
  async #storeByHalves(buffer: PageBuffer): Promise<void> {
    const rest = emptyBuffer(this.#feed);
    const parts = buffer.rows.flatMap((rows, at) => rows.map((decoded) => ({ at, decoded })));
    const store = async (some: readonly (typeof parts)[number][]) => {
      const rows = this.#feed.datasets.map((_, at) =>
        some.flatMap((part) => (part.at === at ? [part.decoded] : [])),
      );
      await this.#write(await this.#commitOf({ ...rest, rows }, null));
    };
    for (const some of splitByKeyRepetition(parts))
      for (const { item: part, error } of await storeByBisection(some, store, MAX_REJECTED_ROWS))
        this.#setAside(buffer, part.at, {
          reason: `PostgreSQL: ${error.message}`,
          item: part.decoded.item,
          key: part.decoded.row,
        });
    buffer.rows = rest.rows;
    buffer.rowCount = 0;
  }

  async #write(commit: Commit): Promise<CommitResult> {
    const { commits, traced = untraced } = this.#context;
    const committed = await traced(
      {
        name: 'commit',
        isClientCall: true,
        attributes: {
          ...POSTGRESQL_ATTRIBUTES,
          'recorder.run.id': this.#runId,
          'recorder.pages': commit.pages,
          'recorder.rows': commit.batches.reduce((sum, { rows }) => sum + rows.length, 0),
          'recorder.run.ends': commit.end !== null,
        },
      },
      () => this.#store(commits, commit),
    );
    this.#totals.rowsWritten = this.#totals.rowsWritten.map(
      (total, at) => total + (committed.rowsWritten[at] ?? 0),
    );
    return committed;
  }

  /** Returns the part of the proven window of a buffer that is claimed as covered. */
  #claimedBy({ proven }: PageBuffer): Window | null {
    const { range } = this.#feed.source;
    return range ? claimablePart(proven, range, this.#startedAt, this.#claimableUntil()) : null;
  }

  /**
   * Returns the end of the claimable range of an index: the newest item that it has shown, of this or another
   * target.
   */
  #claimableUntil(): number | undefined {
    const { range } = this.#feed.source;
    if (!range?.index) return undefined;
    if (range.axis === 'height') return Math.max(this.#claimable ?? 0, this.#settledUntil);
    return Math.max(this.#shownUntil ?? 0, this.#progressOfIndex?.newest ?? 0);
  }

  /** Loads the progress of the index in other targets and its claimed height, before the first commit. */
  async #loadShownUntil(): Promise<void> {
    const index = this.#progressOfIndex?.name;
    if (index === undefined || this.#shownUntil !== undefined) return;
    const { sql, clock } = this.#context;
    if (this.#feed.source.range?.axis === 'height')
      this.#settledUntil = await coveredUntil(sql, this.#feed.datasets, this.#key);
    this.#shownUntil = await claimableUntil(sql, index, clock());
  }

  async #commitOf(buffer: PageBuffer, ending: RunEnding | null): Promise<Commit> {
    const { clock, sql } = this.#context;
    const { source } = this.#feed;
    const now = clock();
    const recordedAt = new Date(now).toISOString();
    const observedAt = this.#observedAt ?? recordedAt;
    const ended = ending && !ending.failure;
    const { window, plannedAt, reason } = this.#job;
    await this.#loadShownUntil();
    const observed =
      this.#isObservedRegularly && ended
        ? await observedCoverage(sql, this.#feed, this.#key, Date.parse(observedAt))
        : [];
    const claimed = this.#claimedBy(buffer);
    return {
      target: this.#job.target,
      targetKey: this.#key,
      runId: this.#runId,
      observedAt,
      recordedAt,
      late: false,
      batches: this.#feed.datasets.map((_, at) => ({
        rows: (buffer.rows[at] ?? []).map(({ row }) => row),
        quarantinedKeys: buffer.quarantinedKeys[at] ?? [],
        absence: ended ? this.#evidence.absence(at, this.#proven ?? window) : null,
      })),
      covered: this.#feed.datasets.map((_, at) => observed[at]?.covered ?? claimed),
      answered: source.range?.index ? buffer.proven : null,
      shownFrom: this.#proven?.from ?? null,
      indexProgress: this.#progressOfIndex?.read() ?? null,
      gaps: this.#feed.datasets.map((_, at) => observed[at]?.gap ?? null),
      quarantined: buffer.quarantined,
      released: [],
      pages: buffer.pages,
      items: buffer.items,
      requests: this.#ask.usage.requests,
      units: this.#ask.usage.units,
      window,
      note: this.#note,
      updatesFreshness: updatesFreshness(source, this.#job, this.#startedAt),
      isSweep: reason === 'sweep',
      plannedAt: plannedAt === undefined ? null : new Date(plannedAt).toISOString(),
      end: ending && {
        outcome: this.#outcomeOf(ending.failure),
        error: ending.failure?.message ?? null,
        asked: true,
        incomplete: this.#feed.datasets.map((_, at) => this.#evidence.incomplete(at)),
      },
    };
  }
}

/** Returns the window of a job, with the position at which the pages may start. */
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

/** Decodes a response. A response without the expected list is rejected as a whole. */
function decoded<T>(decode: () => T, dataset: string): T {
  try {
    return decode();
  } catch (error) {
    throw new UpstreamFailure('malformed', `${dataset}: ${toErrorMessage(error)}`);
  }
}

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
