import type { SourcePage, Window } from '../datasets/contract.ts';
import type { ActiveFeed } from './active-feed.ts';
import type { DecodedPage } from './decode.ts';
import {
  type AbsenceEvidence,
  type Confirmation,
  MULTI_PAGE_CONFIRMATION,
  SINGLE_PAGE_CONFIRMATION,
} from './histories/absence.ts';
import type { EncodedRow } from './histories/rows.ts';
import { canRetire } from './proof.ts';

/**
 * Evidence of one walk: missing parts of its responses, and proofs about members that the responses do not
 * contain.
 */
export class WalkEvidence {
  readonly #datasets: readonly DatasetEvidence[];
  /** Reason why there may be rows that the walk did not read. Null: the walk read all rows. */
  #incompleteReason: string | null = 'the walk ended before the last page';
  #broken: string | null = null;
  #pages = 0;
  /** True if a list continued on a second page, so that it may have changed in between. */
  #isSplit = false;

  constructor(feed: ActiveFeed) {
    this.#datasets = feed.datasets.map((dataset, at) => ({
      returnedRows: [],
      retires: canRetire(feed, at),
      countsMissed: dataset.history === 'state',
      confirmShrink: dataset.confirmShrink,
      unstored: 0,
      unknown: 0,
      contradiction: null,
    }));
  }

  /** Adds a page whose items were all decoded. */
  addPage({ whole, last, startsList, contradiction }: SourcePage): void {
    this.#pages += 1;
    if (this.#pages > 1 && !startsList) this.#isSplit = true;
    if (contradiction !== undefined) this.#broken ??= `${contradiction}: nothing is retired`;
    if (!whole) this.#broken ??= 'the walk read only a part of the list, or had to start again';
    if (last) this.#incompleteReason = this.#broken;
  }

  /** Adds the items of a page for one dataset. */
  addItems(at: number, { rows, consistent, repeats }: DecodedPage): void {
    const evidence = this.#of(at);
    if (!consistent) evidence.contradiction = 'a key has two values';
    if (!evidence.retires) return;
    if (repeats) evidence.contradiction ??= 'a list contains a key twice';
    for (const { row } of rows) evidence.returnedRows.push(row);
  }

  /**
   * Adds a quarantined item.
   * @param key key of the stored row of the item, which is not changed; null: the key is unreadable
   */
  addQuarantined(at: number, key: EncodedRow | null): void {
    const evidence = this.#of(at);
    evidence.unstored += 1;
    if (!key) evidence.unknown += 1;
    else if (evidence.retires) evidence.returnedRows.push(key);
  }

  /**
   * Adds another target that records the same list. Members that this walk did not read may belong to that
   * target.
   */
  addOtherTarget(at: number, key: string): void {
    const evidence = this.#of(at);
    if (evidence.countsMissed) evidence.contradiction ??= `${key} records the same list`;
  }

  /**
   * Returns the reason why a dataset is incomplete after a walk that did not fail, as a text for users.
   * Returns null if the dataset is complete.
   */
  incomplete(at: number): string | null {
    return whyIncomplete(this.#of(at), this.#contradictionOf(at)) ?? this.#incompleteReason;
  }

  /**
   * Returns the evidence about members that the walk did not read. Returns null if there is no evidence. An
   * absence from a list of several pages needs more than one walk, so that there is no evidence if the
   * history does not count walks.
   */
  absence(at: number, window: Window | null): AbsenceEvidence | null {
    const { returnedRows, retires, countsMissed, confirmShrink, unknown } = this.#of(at);
    const isProof = unknown === 0 && this.#contradictionOf(at) === null && this.#incompleteReason === null;
    if (!retires || !isProof || (this.#isSplit && !countsMissed)) return null;
    return {
      returnedRows,
      window,
      confirm: this.#isSplit ? MULTI_PAGE_CONFIRMATION : SINGLE_PAGE_CONFIRMATION,
      confirmShrink,
    };
  }

  /**
   * Returns the contradiction of a dataset, or the contradiction of another dataset whose members are from
   * the same list. Returns null if the list is consistent.
   */
  #contradictionOf(at: number): string | null {
    const { contradiction, retires } = this.#of(at);
    if (contradiction !== null || !retires) return contradiction;
    return this.#datasets.find((one) => one.retires && one.contradiction !== null)?.contradiction ?? null;
  }

  #of(at: number): DatasetEvidence {
    const evidence = this.#datasets[at];
    if (!evidence) throw new RangeError(`the feed has no dataset with the index ${at}`);
    return evidence;
  }
}

interface DatasetEvidence {
  /**
   * Rows that the whole walk read, including the keys of quarantined items. Empty if rows cannot be retired.
   */
  readonly returnedRows: EncodedRow[];
  readonly retires: boolean;
  /** True if the table counts the walks that missed a row. */
  readonly countsMissed: boolean;
  readonly confirmShrink: Confirmation;
  /** Number of quarantined items. Stored rows with their keys are not changed. */
  unstored: number;
  /** Number of quarantined items whose key could not be read. */
  unknown: number;
  /** Contradiction between the items. Null: none. */
  contradiction: string | null;
}

function whyIncomplete({ unstored, unknown }: DatasetEvidence, contradiction: string | null): string | null {
  const items = (count: number) => (count === 1 ? '1 item' : `${count} items`);
  if (unknown > 0) return `${items(unknown)} without a readable key in the quarantine: nothing is retired`;
  if (contradiction !== null) return `${contradiction}: nothing is retired`;
  if (unstored > 0) return `${items(unstored)} in the quarantine: rows with their keys stay unchanged`;
  return null;
}
