import type { Row } from './histories/rows.ts';

/** A decoded row and the item that it came from. */
export interface DecodedRow {
  readonly row: Row;
  readonly item: unknown;
  /** The row of an earlier page that this row of a log contradicts, in the same commit; null: none. */
  readonly after: DecodedRow | null;
}

/** The last row of a natural key. */
interface Seen {
  readonly row: Row;
  /** Of a log only: the items of a whole walk would be most of what a process holds. */
  readonly decoded: DecodedRow | null;
  /** The number of the last page and list that showed the row. */
  page: number;
  list: number;
}

/** The rows that pages showed, by natural key. */
export class SeenRows {
  readonly #byKey = new Map<string, Seen>();
  #page = 0;
  #list = 0;

  /** Starts another list: rows that earlier lists showed are no repetition. */
  startList(): void {
    this.#list += 1;
  }

  startPage(): void {
    this.#page += 1;
  }

  /** The last row of a key, and whether the current page showed it; undefined: there is none. */
  get(id: string): (Pick<Seen, 'row' | 'decoded'> & { readonly isOfThisPage: boolean }) | undefined {
    const seen = this.#byKey.get(id);
    return seen && { row: seen.row, decoded: seen.decoded, isOfThisPage: seen.page === this.#page };
  }

  /** Adds the row of a key. @param decoded null: the row of the key is never contradicted by another one */
  add(id: string, row: Row, decoded: DecodedRow | null): void {
    this.#byKey.set(id, { row, decoded, page: this.#page, list: this.#list });
  }

  /** Notes that a row came again with the same values. Returns whether the current list had shown it. */
  repeat(id: string): boolean {
    const seen = this.#byKey.get(id);
    if (!seen) return false;
    const isRepetition = seen.list === this.#list;
    seen.page = this.#page;
    seen.list = this.#list;
    return isRepetition;
  }
}
