import { setTimeout as delay } from 'node:timers/promises';

/**
 * Maximum number of rows that wait for a commit; at this number, fetching waits, too. Every garbage
 * collection copies the waiting rows, and larger commits are not cheaper per row.
 */
const MAX_WAITING_ROWS = 2_000;
/**
 * Number of rows from which the fixed cost of a commit is negligible. A commit with fewer rows waits {@link
 * COMMIT_DELAY_MS} ms for more pages.
 */
const MIN_COMMIT_ROWS = 1_000;
const COMMIT_DELAY_MS = 50;
/**
 * Minimum number of rows of a commit while no other commit is in progress, because PostgreSQL would be idle
 * otherwise. The limit also prevents that runs with the same start all fetch at the same time and then all
 * commit at the same time.
 */
const MIN_IDLE_COMMIT_ROWS = 250;
/** Abort reason that ends the wait for more pages early. */
const ENOUGH_PAGES = 'there are enough pages for a commit';

/** The rows of a run, as the commit queue accesses them. */
export interface CommitSource {
  /** Returns the number of rows that are in no commit yet. */
  rows(): number;
  /** Returns whether no commit of any run is in progress. */
  isIdle(): boolean;
  /** Commits these rows. */
  commit(): Promise<unknown>;
}

/**
 * Queue of the commits of a run. Commits are sequential and run concurrently with the fetching of pages.
 * Pages that arrive during a commit become part of the next commit.
 */
export class CommitQueue {
  readonly #gathered: CommitSource;
  /**
   * Resolves when the current commit, or the wait before it, has ended, also by a failure. Null: there is
   * none.
   */
  #ending: Promise<void> | null = null;
  /** Ends the wait for more pages. Null: no wait is in progress. */
  #gathering: AbortController | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(gathered: CommitSource) {
    this.#gathered = gathered;
  }

  /**
   * Reports that pages arrived. Resolves when more pages may be fetched.
   * @throws the error of a failed commit
   */
  async pagesArrived(): Promise<void> {
    if (this.#isWorthACommit) this.#gathering?.abort(ENOUGH_PAGES);
    if (this.#gathered.rows() >= MAX_WAITING_ROWS) await this.#ending;
    if (this.#failure) throw this.#failure.error;
    this.#ending ??= this.#gather()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#ending = null;
      });
  }

  /**
   * Resolves when the commit in progress is stored. A commit that still waits for more pages is not started.
   * @throws the error of a failed commit
   */
  async end(): Promise<void> {
    const gathering = this.#gathering;
    this.#gathering = null;
    gathering?.abort(ENOUGH_PAGES);
    await this.#ending;
    if (this.#failure) throw this.#failure.error;
  }

  get #isWorthACommit(): boolean {
    return this.#gathered.rows() >= (this.#gathered.isIdle() ? MIN_IDLE_COMMIT_ROWS : MIN_COMMIT_ROWS);
  }

  /** Waits briefly for more pages, unless there are enough, and commits all of them. */
  async #gather(): Promise<void> {
    if (!this.#isWorthACommit) {
      const gathering = new AbortController();
      this.#gathering = gathering;
      await delay(COMMIT_DELAY_MS, undefined, { signal: gathering.signal }).catch(() => {});
      if (this.#gathering !== gathering) return; // the run ends, and its last commit contains the pages
      this.#gathering = null;
    }
    await this.#gathered.commit();
  }
}
