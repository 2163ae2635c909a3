import type { Dataset, DatasetColumn } from '../../datasets/contract.ts';
import { itemColumns } from '../histories/batch.ts';

/** How the values of a type become whole numbers. */
export type Kind = 'number' | 'whole' | 'flag' | 'instant';

const KINDS: Readonly<Record<string, Kind>> = {
  numeric: 'number',
  bigint: 'whole',
  boolean: 'flag',
  timestamptz: 'instant',
};

/** A column whose values are packed. */
export interface PackedColumn {
  readonly column: DatasetColumn;
  readonly kind: Kind;
}

/**
 * How the readings of a dataset are packed. What they were asked about stands once a scope, their texts once a member, and
 * their numbers, flags and instants in strips of bits. A reading of another kind stays a row.
 */
export interface Packing {
  readonly dataset: Dataset;
  /** The columns of the request, in the order of a scope's values. */
  readonly request: readonly DatasetColumn[];
  /** The columns of texts, in the order of a member's words: those of the key, then others. */
  readonly words: readonly DatasetColumn[];
  readonly values: readonly PackedColumn[];
  /** Columns that must be null in a reading that is packed. */
  readonly loose: readonly string[];
}

/** How many members share a row of a closed day. */
export const SEATS = 8;

const made = new WeakMap<Dataset, Packing>();

/** @param dataset one whose kind of history is `sample` */
export function packingOf(dataset: Dataset): Packing {
  const before = made.get(dataset);
  if (before) return before;
  const columns = itemColumns(dataset);
  const isWord = ({ type }: DatasetColumn) => type === 'text';
  const inKey = ({ name }: DatasetColumn) => dataset.key.includes(name);
  const odd = columns.find((column) => inKey(column) && !isWord(column));
  if (odd)
    throw new Error(`${dataset.name}: the key of readings is made of texts, and ${odd.name} is ${odd.type}`);
  const words = columns.filter(isWord);
  const values = columns.flatMap((column): PackedColumn[] => {
    const kind = KINDS[column.type];
    return kind ? [{ column, kind }] : [];
  });
  const packing: Packing = {
    dataset,
    request: dataset.columns.filter(({ path }) => path.length === 0),
    words: [...words.filter(inKey), ...words.filter((one) => !inKey(one))],
    values,
    loose: [
      ...columns.filter((column) => !isWord(column) && !KINDS[column.type]).map(({ name }) => name),
      'extra',
    ],
  };
  made.set(dataset, packing);
  return packing;
}

/** The columns of numbers, of which closed days have sums, with their place among the values, from 1. */
export const numbersOf = ({ values }: Packing): readonly { column: DatasetColumn; at: number }[] =>
  values.flatMap(({ column, kind }, at) =>
    kind === 'number' || kind === 'whole' ? [{ column, at: at + 1 }] : [],
  );

/** SQL: the table of a dataset as it stands in `dataset` of the tables of readings. */
export const tableOf = ({ dataset }: Packing): string => `'recorder.${dataset.name}'::regclass`;

/** SQL: the words of a row, which tell what it is a reading of. @param row the row's alias */
export const wordsIn = ({ words }: Packing, row: string): string =>
  words.length === 0 ? `'{}'::text[]` : `array[${words.map(({ name }) => `${row}.${name}`).join(', ')}]`;

/** SQL: the number of a member. @param row its alias */
export const numberOf = (row: string): string => `(${row}.chunk * ${SEATS} + ${row}.seat - 1)`;

/** SQL: whether a string of bits, one a member, has a number. It may be shorter than the numbers that were given since. */
export const isAmong = (number: string, present: string): string =>
  `(${number} < length(${present}) and get_bit(${present}, ${number}) = 1)`;

/**
 * SQL: where a column of the member `m` stands in an array of a closed day that has so many columns a member; both from 1. It is
 * worked out several times for each reading, so it is one multiplication.
 */
export const cellOf = (columns: number, at: number): string =>
  `m.seat * ${columns}${at === columns ? '' : ` - ${columns - at}`}`;

/** SQL: the member `m` was read on the closed day `d`. */
export const wasRead = ({ values }: Packing): string => `d.base[${cellOf(values.length, 1)}] is not null`;
