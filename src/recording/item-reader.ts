import { z } from 'zod';
import type { Dataset } from '../datasets/contract.ts';
import { type Column, columnOf } from '../datasets/fields.ts';
import { unwrap } from '../datasets/unwrap.ts';
import { itemColumns } from './histories/batch.ts';

/** A row that is being filled; `extra`, its last column, is null. */
export type OpenRow = (string | null)[];

/** What an item's schema takes of an item. */
export interface ReadItem {
  readonly row: OpenRow;
  /** Whether the schema names every member of the item, or the dataset leaves it out: then nothing is left for `extra`. */
  readonly named: boolean;
}

/** Fills a row from a value; false: the schema refuses the value. */
type Fill = (value: unknown, row: OpenRow) => boolean;

/**
 * Builds a dataset's reader of items from its declaration. It reads what the item's Zod schema takes, into the same texts,
 * at a small part of the cost. Null: the schema refuses the item, and only Zod says why.
 * @throws RangeError (when it reads) a value that nests deeper than can be written
 */
export function buildItemReader(dataset: Dataset): (item: unknown) => ReadItem | null {
  const columns = itemColumns(dataset);
  const empty: readonly null[] = [...columns, 'extra'].map(() => null);
  /** Of the item that is being read. */
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
    if (!column || at < 0) throw new Error(`no column for the field ${path.join('.')}`);
    return column.raw ? twoColumns(column, column.raw, at) : oneColumn(column, at);
  };

  const fill = object(dataset.item, [], dataset.ignore);
  return (item) => {
    named = true;
    const row = [...empty];
    return fill(item, row) ? { row, named } : null;
  };
}

function oneColumn({ read }: Column, at: number): Fill {
  return (value, row) => {
    const text = read(value);
    row[at] = text;
    return text !== null;
  };
}

/** The column at `at` and the one of the number as it came, behind it. */
function twoColumns({ read }: Column, raw: Column, at: number): Fill {
  return (value, row) => {
    row[at] = read(value);
    const text = raw.read(value);
    row[at + 1] = text;
    return text !== null;
  };
}

/** What Zod takes as an object. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
