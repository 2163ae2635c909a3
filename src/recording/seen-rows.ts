import type { EncodedRow } from './histories/rows.ts';

/** A decoded row and its item. */
export interface DecodedRow {
  readonly row: EncodedRow;
  readonly item: unknown;
  /** Row of an earlier page in the same commit that this row of a log contradicts. Null: none. */
  readonly after: DecodedRow | null;
}

/** The last row with a natural key. */
interface SeenRow {
  readonly row: EncodedRow;
  /** Null except in a log, because the items of a whole walk would use most of the memory. */
  readonly decoded: DecodedRow | null;
  /** Numbers of the last page and list that contained the row. */
  page: number;
  list: number;
}

/** Rows of the previous pages, by natural key. */
export class SeenRows {
  readonly #byKey = new Map<string, SeenRow>();
  #page = 0;
  #list = 0;

  /** Starts another list. An equal row of an earlier list does not count as a repetition. */
  startList(): void {
    this.#list += 1;
  }

  startPage(): void {
    this.#page += 1;
  }

  /**
   * Returns the last row of a key, and whether the current page contained the row. Returns undefined if there
   * is no row.
   */
  get(id: string): (Pick<SeenRow, 'row' | 'decoded'> & { readonly isOfThisPage: boolean }) | undefined {
    const entry = this.#byKey.get(id);
    return entry && { row: entry.row, decoded: entry.decoded, isOfThisPage: entry.page === this.#page };
  }

  /**
   * Adds the row of a key.
   * @param decoded null: later rows of the key cannot contradict this row
   */
  add(id: string, row: EncodedRow, decoded: DecodedRow | null): void {
    this.#byKey.set(id, { row, decoded, page: this.#page, list: this.#list });
  }

  /**
   * Marks the row of a key as contained in the current page and list. Returns whether the current list
   * already contained the row.
   */
  repeat(id: string): boolean {
    const entry = this.#byKey.get(id);
    if (!entry) return false;
    const isRepetition = entry.list === this.#list;
    entry.page = this.#page;
    entry.list = this.#list;
    return isRepetition;
  }
}
