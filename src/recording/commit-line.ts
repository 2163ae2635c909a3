import { setTimeout as delay } from 'node:timers/promises';

/**
 * The most rows that wait for a commit. With more, fetching waits too. What waits is copied at every garbage collection, and
 * larger commits are no cheaper a row.
 */
const MOST_WAITING = 2_000;
/** A commit of so many rows costs little more than its rows. A smaller one waits so long, in ms, for the next pages. */
const WORTH_A_COMMIT = 1_000;
const GATHERING = 50;
/**
 * So many are worth a commit while no other is under way: PostgreSQL would wait for more. And runs that begin at once do not go on in
 * step, all fetching and then all committing.
 */
const WORTH_WHILE_IDLE = 250;
/** Why the wait ends before its time. */
const ENOUGH = 'there are enough pages for a commit';

/** What is committed. */
export interface Gathered {
  /** How many rows came that no commit has. */
  rows(): number;
  /** Whether no commit is under way, of this run or another one. */
  isIdle(): boolean;
  /** Commits the rows that came. */
  commit(): Promise<unknown>;
}

/** The commits of a run, one after the other, beside its fetching: what comes while one is under way waits for the next. */
export class CommitLine {
  readonly #gathered: Gathered;
  /** Resolves when the commit that is under way, or gathered for, has ended, however it did; null: there is none. */
  #ending: Promise<void> | null = null;
  /** Ends the wait for more pages; null: none is waited for. */
  #gathering: AbortController | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(gathered: Gathered) {
    this.#gathered = gathered;
  }

  /** Pages came. Resolves when more may be fetched. @throws what a commit threw */
  async grew(): Promise<void> {
    if (this.#isWorthACommit) this.#gathering?.abort(ENOUGH);
    if (this.#gathered.rows() >= MOST_WAITING) await this.#ending;
    if (this.#failure) throw this.#failure.error;
    this.#ending ??= this.#gather()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#ending = null;
      });
  }

  /** Resolves once what was begun is stored; what is gathered for is not begun any more. @throws what a commit threw */
  async end(): Promise<void> {
    const gathering = this.#gathering;
    this.#gathering = null;
    gathering?.abort(ENOUGH);
    await this.#ending;
    if (this.#failure) throw this.#failure.error;
  }

  get #isWorthACommit(): boolean {
    return this.#gathered.rows() >= (this.#gathered.isIdle() ? WORTH_WHILE_IDLE : WORTH_A_COMMIT);
  }

  /** Commits the pages that came, with those that come within a moment. */
  async #gather(): Promise<void> {
    if (!this.#isWorthACommit) {
      const gathering = new AbortController();
      this.#gathering = gathering;
      await delay(GATHERING, undefined, { signal: gathering.signal }).catch(() => {});
      if (this.#gathering !== gathering) return; // the run ends: its last commit takes the pages
      this.#gathering = null;
    }
    await this.#gathered.commit();
  }
}
