import type { Dataset, DatasetColumn } from '../../datasets/contract.ts';
import { itemColumns } from '../histories/batch.ts';

/** Encoding of the values of a type as integers. */
export type ValueKind = 'number' | 'whole' | 'flag' | 'instant';

const KINDS: Readonly<Record<string, ValueKind>> = {
  numeric: 'number',
  bigint: 'whole',
  boolean: 'flag',
  timestamptz: 'instant',
};

/** A column whose values are packed. */
export interface PackedColumn {
  readonly column: DatasetColumn;
  readonly kind: ValueKind;
}

/**
 * Packing of the readings of a dataset. The values of the request are stored once per scope, the texts once
 * per member. Numbers, flags and instants are stored in strips of bits. Readings with values of other types
 * remain rows.
 */
export interface Packing {
  readonly dataset: Dataset;
  /** Columns of the request, in the order of the values of a scope. */
  readonly request: readonly DatasetColumn[];
  /** Columns of texts, in the order of the `texts` of a member: those of the key, then others. */
  readonly texts: readonly DatasetColumn[];
  readonly values: readonly PackedColumn[];
  /** Columns that must be null in a packed reading. */
  readonly loose: readonly string[];
}

/** Number of members that share a row of a closed day. */
export const MEMBERS_PER_ROW = 8;

const packings = new WeakMap<Dataset, Packing>();

/**
 * Returns the packing of a dataset.
 * @param dataset a dataset with the history `sample`
 */
export function packingOf(dataset: Dataset): Packing {
  const before = packings.get(dataset);
  if (before) return before;
  const columns = itemColumns(dataset);
  const isText = ({ type }: DatasetColumn) => type === 'text';
  const inKey = ({ name }: DatasetColumn) => dataset.key.includes(name);
  const odd = columns.find((column) => inKey(column) && !isText(column));
  if (odd)
    throw new Error(
      `${dataset.name}: a key column of readings must have the type text, and ${odd.name} has the type ${odd.type}`,
    );
  const texts = columns.filter(isText);
  const values = columns.flatMap((column): PackedColumn[] => {
    const kind = KINDS[column.type];
    return kind ? [{ column, kind }] : [];
  });
  const packing: Packing = {
    dataset,
    request: dataset.columns.filter(({ path }) => path.length === 0),
    texts: [...texts.filter(inKey), ...texts.filter((one) => !inKey(one))],
    values,
    loose: [
      ...columns.filter((column) => !isText(column) && !KINDS[column.type]).map(({ name }) => name),
      'extra',
    ],
  };
  packings.set(dataset, packing);
  return packing;
}

/**
 * Returns the numeric columns, for which closed days store sums, with their index among the values, from 1.
 */
export const numbersOf = ({ values }: Packing): readonly { column: DatasetColumn; at: number }[] =>
  values.flatMap(({ column, kind }, at) =>
    kind === 'number' || kind === 'whole' ? [{ column, at: at + 1 }] : [],
  );

/** SQL: the table of a dataset, as it is stored in `dataset` of the tables of readings. */
export const regclassSql = ({ dataset }: Packing): string => `'recorder.${dataset.name}'::regclass`;

/**
 * SQL: the texts of a row, which identify its member.
 * @param row alias of the row
 */
export const memberTextsSql = ({ texts }: Packing, row: string): string =>
  texts.length === 0 ? `'{}'::text[]` : `array[${texts.map(({ name }) => `${row}.${name}`).join(', ')}]`;

/**
 * SQL: the number of a member.
 * @param row alias of the member
 */
export const numberOf = (row: string): string => `(${row}.chunk * ${MEMBERS_PER_ROW} + ${row}.seat - 1)`;

/**
 * SQL: condition that the bit of a number is set in a bit string with one bit per member. The string may be
 * shorter than the current number of members.
 */
export const hasBitSql = (number: string, present: string): string =>
  `(${number} < length(${present}) and get_bit(${present}, ${number}) = 1)`;

/**
 * SQL: array index of a column of the member `m` in a closed day with the given number of columns per member;
 * both from 1. The expression is evaluated several times per reading, so that it is only one multiplication
 * and one subtraction.
 */
export const cellOf = (columns: number, at: number): string =>
  `m.seat * ${columns}${at === columns ? '' : ` - ${columns - at}`}`;

/** SQL: condition that the member `m` was read on the closed day `d`. */
export const wasReadSql = ({ values }: Packing): string => `d.base[${cellOf(values.length, 1)}] is not null`;
