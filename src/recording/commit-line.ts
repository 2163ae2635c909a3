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
  /**
   * Commits the rows that came.
   * @param after the commit before: this one may be sent, and is carried out once that one has resolved; absent: at once
   */
  commit(after?: Promise<unknown>): Promise<unknown>;
}

/**
 * The commits of a run, one after the other, beside its fetching. What comes while one is carried out waits for the next; where that is as much as may
 * wait, the next one is sent already, and fetching goes on.
 */
export class CommitLine {
  readonly #gathered: Gathered;
  /** What is gathered for or carried out, and what is sent: at most these two. */
  readonly #line: { readonly commit: Promise<unknown>; readonly settled: Promise<void> }[] = [];
  /** Ends the wait for more pages; null: none is waited for. */
  #gathering: AbortController | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(gathered: Gathered) {
    this.#gathered = gathered;
  }

  /** Pages came. Resolves when more may be fetched. @throws what a commit threw */
  async grew(): Promise<void> {
    if (this.#isWorthACommit) this.#gathering?.abort(ENOUGH);
    const isFull = this.#gathered.rows() >= MOST_WAITING;
    if (isFull && this.#line.length === 2) await this.#line[0]?.settled;
    if (this.#failure) throw this.#failure.error;
    const [before] = this.#line;
    if (!before) this.#add(this.#gather());
    else if (isFull && this.#line.length === 1 && !this.#gathering)
      this.#add(this.#gathered.commit(before.commit));
  }

  /** Resolves once all that was begun is stored; what is still gathered is not begun any more. @throws what a commit threw */
  async end(): Promise<void> {
    const gathering = this.#gathering;
    this.#gathering = null;
    gathering?.abort(ENOUGH);
    await Promise.all(this.#line.map(({ settled }) => settled));
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
      if (this.#gathering !== gathering) return;
      this.#gathering = null;
    }
    await this.#gathered.commit();
  }

  #add(commit: Promise<unknown>): void {
    const settled = commit
      .catch((error: unknown) => {
        this.#failure ??= { error: error ?? new Error('the commit failed') };
      })
      .then(() => {
        this.#line.shift(); // they end in their order
      });
    this.#line.push({ commit, settled });
  }
}
