import { ArrayBytes } from '../db/array-bytes.ts';

/** A decoded row: one text (or null) a column, in the order of the dataset's item columns, `extra` last. */
export type Row = readonly (string | null)[];

/**
 * Rows on their way into a commit, as an array a column: inserting by `unnest` of one array a column is the fastest statement that can
 * also be fenced. A row becomes bytes when it is added, so that the texts it was made of need not be kept until the commit.
 */
export class Rows {
  readonly #columns: readonly { readonly index: number; readonly values: ArrayBytes }[];
  #length = 0;

  /** @param columns which columns of a row are kept: where they are in it, and of which type */
  constructor(columns: readonly { readonly index: number; readonly type: string }[]) {
    this.#columns = columns.map(({ index, type }) => ({ index, values: new ArrayBytes(type) }));
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a row. @throws RangeError when one of its texts is no value of its column: nothing is added */
  add(row: Row): void {
    let added = 0;
    try {
      for (const { index, values } of this.#columns) {
        values.add(row[index] ?? null);
        added += 1;
      }
    } catch (error) {
      for (const { values } of this.#columns.slice(0, added)) values.takeBack();
      throw error;
    }
    this.#length += 1;
  }

  /** Lets all rows go: nobody may use what {@link array} gave any more. */
  clear(): void {
    for (const { values } of this.#columns) values.clear();
    this.#length = 0;
  }

  /** The values of a column, as PostgreSQL takes an array in its binary form. It holds until a row is added. */
  array(place: number): Buffer {
    const column = this.#columns[place];
    if (!column) throw new Error(`rows have no column ${place}`);
    return column.values.array();
  }
}
