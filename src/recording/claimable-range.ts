import type postgres from 'postgres';
import type { SourcePage, Window } from '../datasets/contract.ts';
import type { ActiveFeed } from './active-feed.ts';
import { claimableUntil, coveredUntil, IndexProgress, type Progress } from './index-progress.ts';
import type { Job } from './job.ts';
import { claimablePart } from './proof.ts';
import { targetKey } from './target-key.ts';

/**
 * The range that a run may claim as covered. If the source has an index, the range ends at the newest item
 * that the index has returned for any target.
 */
export class ClaimableRange {
  readonly #feed: ActiveFeed;
  readonly #job: Job;
  /**
   * Time before the first request, in ms since 1970. An index may return more items while the pages are read.
   */
  readonly #startedAt: number;
  /** Progress of the index, measured by the items; only if the source has an index. */
  readonly #progress: IndexProgress | null;
  /**
   * Only for an index on the axis of heights: exclusive end of the heights that may be claimed according to
   * the pages.
   */
  #heightEnd: number | null = null;
  /** Stored progress of the index, from the runs of all targets. Null: not loaded yet. */
  #known: { readonly shownUntil: number; readonly coveredUntil: number } | null = null;

  constructor(feed: ActiveFeed, job: Job, startedAt: number) {
    this.#feed = feed;
    this.#job = job;
    this.#startedAt = startedAt;
    const { upstream, range } = feed.source;
    this.#progress = range?.index && job.window ? new IndexProgress(upstream, range.index, job.target) : null;
  }

  /** Progress of the index. Null: the source has no index. */
  get progress(): Progress | null {
    return this.#progress?.read() ?? null;
  }

  addPage({ claimable }: SourcePage): void {
    this.#heightEnd = claimable ?? this.#heightEnd;
  }

  /** @param now ms since 1970 */
  addItems(items: readonly unknown[], now: number): void {
    this.#progress?.take(items, now);
  }

  /**
   * Returns the part of a proven window that may be claimed. Null: none.
   * @param now ms since 1970
   */
  async partOf(sql: postgres.Sql, proven: Window | null, now: number): Promise<Window | null> {
    const { range } = this.#feed.source;
    if (!range) return null;
    return claimablePart(proven, range, this.#startedAt, await this.#indexEnd(sql, now));
  }

  async #indexEnd(sql: postgres.Sql, now: number): Promise<number | undefined> {
    const { range } = this.#feed.source;
    if (!range?.index) return undefined;
    const known = await this.#load(sql, now);
    return range.axis === 'height'
      ? Math.max(this.#heightEnd ?? 0, known.coveredUntil)
      : Math.max(known.shownUntil, this.#progress?.newest ?? 0);
  }

  /** Loads the stored progress of the index once, before the first commit. */
  async #load(sql: postgres.Sql, now: number) {
    if (this.#known) return this.#known;
    const { source, datasets } = this.#feed;
    this.#known = {
      shownUntil: this.#progress ? await claimableUntil(sql, this.#progress.name, now) : 0,
      coveredUntil:
        this.#progress && source.range?.axis === 'height'
          ? await coveredUntil(sql, datasets, targetKey(this.#job.target))
          : 0,
    };
    return this.#known;
  }
}
