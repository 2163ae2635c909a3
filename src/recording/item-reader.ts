import { z } from 'zod';
import type { Dataset } from '../datasets/contract.ts';
import { columnOf, type FieldColumn } from '../datasets/fields.ts';
import { unwrap } from '../datasets/unwrap.ts';
import { itemColumns } from './histories/batch.ts';

/** A mutable row. The last column of the row, `extra`, is null. */
export type OpenRow = (string | null)[];

/** Result of reading an item. */
export interface ReadItem {
  readonly row: OpenRow;
  /**
   * True if the schema or the ignore list of the dataset contains every member of the item, so that nothing
   * is left for `extra`.
   */
  readonly named: boolean;
}

/** Fills a row from a value. Returns false if the schema rejects the value. */
type Fill = (value: unknown, row: OpenRow) => boolean;

/**
 * Builds the item reader of a dataset from its declaration. The reader accepts the same items as the Zod
 * schema and returns the same texts, but is much faster. The reader returns null if the schema rejects the
 * item; only Zod reports the reason. The reader throws RangeError if a value is nested too deeply to be
 * serialised.
 */
export function buildItemReader(dataset: Dataset): (item: unknown) => ReadItem | null {
  const columns = itemColumns(dataset);
  const empty: readonly null[] = [...columns, 'extra'].map(() => null);
  /** Value of {@link ReadItem.named} for the current item. */
  let named = true;

  const object = (schema: z.ZodObject, outer: readonly string[], ignored: readonly string[] = []): Fill => {
    const members = Object.entries(schema.shape).map(([name, member]) => {
      const { inner, nullable } = unwrap(member);
      const path = [...outer, name];
      return { name, nullable, fill: inner instanceof z.ZodObject ? object(inner, path) : leaf(inner, path) };
    });
    const leftOut = ignored.filter((name) => !Object.hasOwn(schema.shape, name));
    return (value, row) => {
      if (!isRecord(value)) return false;
      let found = 0;
      for (const { name, nullable, fill } of members) {
        const member = value[name];
        if (member !== undefined) found += 1;
        if (nullable && (member === undefined || member === null)) continue;
        if (!fill(member, row)) return false;
      }
      for (const name of leftOut) if (value[name] !== undefined) found += 1;
      if (found !== Object.keys(value).length) named = false;
      return true;
    };
  };

  const leaf = (schema: unknown, path: readonly string[]): Fill => {
    const column = columnOf(schema);
    const at = columns.findIndex((one) => one.path.join('.') === path.join('.'));
    if (!column || at < 0)
      throw new Error(`dataset ${dataset.name} has no column for the field ${path.join('.')}`);
    return column.raw ? twoColumns(column, column.raw, at) : oneColumn(column, at);
  };

  const fill = object(dataset.item, [], dataset.ignore);
  return (item) => {
    named = true;
    const row = [...empty];
    return fill(item, row) ? { row, named } : null;
  };
}

function oneColumn({ read }: FieldColumn, at: number): Fill {
  return (value, row) => {
    const text = read(value);
    row[at] = text;
    return text !== null;
  };
}

/** Fills the column at `at` with the value, and the next column with the number as received. */
function twoColumns({ read }: FieldColumn, raw: FieldColumn, at: number): Fill {
  return (value, row) => {
    row[at] = read(value);
    const text = raw.read(value);
    row[at + 1] = text;
    return text !== null;
  };
}

/** Accepts the same values as a Zod object. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
