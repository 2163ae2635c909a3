import { z } from 'zod';
import { isExactNumber, jsonText } from '../upstreams/json.ts';
import { type Normalize, normalizationOf, normalizations, oneSpelling } from './canonical-hex.ts';
import { isoText } from './iso-text.ts';
import { storableJson, storableText } from './storable-text.ts';

/** PostgreSQL's type of a column. */
export type ColumnType =
  | 'text'
  | 'numeric'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'jsonb'
  | 'double precision';

/**
 * Which numbers a `numeric` column is for, for formats whose numbers have bounds: `wide` are whole numbers of up to 256 bits,
 * `decimal` has decimals. Absent: whole numbers of at most 38 digits. It bounds nothing that is recorded.
 */
export type Digits = 'wide' | 'decimal';

/** Reads one upstream value as the text of its column, exact; null: it is not what the field takes. */
type Read = (value: unknown) => string | null;

/** A column that a leaf becomes. */
export interface Column {
  readonly type: ColumnType;
  readonly read: Read;
  /** The begin of the column's COMMENT; the upstream's field name follows. */
  readonly meaning?: string | undefined;
  /** Of `numeric`: see {@link Digits}. */
  readonly digits?: Digits;
  /** The shape of a list's elements, for the flattened view; absent for scalars. */
  readonly element?: z.ZodType | undefined;
  /**
   * A second column of the leaf, `<name>_raw`; the leaf is then an object of the texts `value` and `raw`. Its `read` says
   * whether the field takes a value, and the first column is null where its own does not.
   */
  readonly raw?: Column;
}

/** Which column a field's schema becomes. Every leaf of an item's schema is registered here. */
const columns = new WeakMap<object, Column>();

/** The column that a leaf becomes; undefined for a schema that is none of the fields below. */
export const columnOf = (schema: unknown): Column | undefined =>
  typeof schema === 'object' && schema !== null ? columns.get(schema) : undefined;

/**
 * A leaf of an item: checks one upstream value and turns it into the text that PostgreSQL reads for its column.
 * The texts are exact: no amount passes through a double.
 */
export type Field = z.ZodType<string, unknown>;

/** @param expected what `read` takes, in the words of a refusal */
function field(expected: string, column: Column): Field {
  const schema = z.transform((value: unknown, context): string => {
    const result = column.read(value);
    if (result !== null) return result;
    context.issues.push({ code: 'custom', message: `${expected} expected`, input: value });
    return z.NEVER;
  });
  columns.set(schema, column);
  return schema;
}

/** The longest text that any field may hold, in UTF-16 units; genesis data and code may be that long. */
const LONGEST_TEXT = 1_000_000;

/** A string that may be stored, as it came; null for anything else. */
const shortText = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= LONGEST_TEXT ? storableText(value) : null;
const SHORT_TEXT = `a string of at most ${LONGEST_TEXT} characters`;

/** A string, kept as it is; what PostgreSQL does not take of it is escaped (storable.ts). */
export const text = (meaning?: string): Field =>
  field(SHORT_TEXT, { type: 'text', meaning, read: shortText });

/**
 * Bytes written as `0x…`: addresses, hashes, keys, signatures. They are stored in lower case, because the case of the
 * digits has no meaning and differs between services. Ids in base58, which may come in the same field, are kept.
 */
export const hex = (meaning?: string): Field => {
  const read: Read = (value) => {
    const said = shortText(value);
    return said === null ? null : oneSpelling(said);
  };
  const schema = field(SHORT_TEXT, { type: 'text', meaning, read });
  normalizations.set(schema, (value) => (typeof value === 'string' ? oneSpelling(value) : value));
  return schema;
};

/** The source text of a number that came as a JSON number or as a string; null for anything else. */
function numberText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  return isExactNumber(value) ? value.value : null;
}

/** Reads numbers whose digits have a form. */
const matching =
  (pattern: RegExp): Read =>
  (value) => {
    const digits = numberText(value);
    return digits !== null && pattern.test(digits) ? digits : null;
  };

const uintText = matching(/^\d{1,1000}$/);
const integerText = matching(/^-?\d{1,1000}$/);
const decimalText = matching(/^-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/);
const countText = matching(/^\d{1,16}$/);

/** An unsigned integer of any size, from a JSON number or a decimal string: amounts, weights, heights. */
export const uint = (meaning?: string): Field =>
  field('an unsigned integer', { type: 'numeric', meaning, read: uintText });

/** As uint, of up to 256 bits: amounts and token ids of EVM chains. */
export const uint256 = (meaning?: string): Field =>
  field('an unsigned integer', { type: 'numeric', digits: 'wide', meaning, read: uintText });

/** As uint, but may be negative: what the genesis made is in block -1. */
export const integer = (meaning?: string): Field =>
  field('an integer', { type: 'numeric', meaning, read: integerText });

/** A number with or without decimals, from a JSON number or a string: percentages, metric values, prices. */
export const decimal = (meaning?: string): Field =>
  field('a decimal number', { type: 'numeric', digits: 'decimal', meaning, read: decimalText });

/** A small unsigned integer: counts, sizes, indexes; at most 2^53. */
export const count = (meaning?: string): Field =>
  field('an unsigned integer of at most 16 digits', { type: 'bigint', meaning, read: countText });

/** True or false. */
export const flag = (meaning?: string): Field =>
  field('a boolean', {
    type: 'boolean',
    meaning,
    read: (value) => (typeof value === 'boolean' ? String(value) : null),
  });

const LATEST_SECOND = 253_402_300_799; // the year 9999

/** Unix seconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixSeconds = (meaning?: string): Field => unixTime(1000, 'Unix seconds', meaning);

/** Unix milliseconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixMilliseconds = (meaning?: string): Field => unixTime(1, 'Unix milliseconds', meaning);

function unixTime(unit: number, expected: string, meaning?: string): Field {
  return field(expected, { type: 'timestamptz', meaning, read: unixText(unit) });
}

/** Reads Unix time as ISO 8601. @param unit ms in one of it */
function unixText(unit: number): Read {
  return (value) => {
    const digits = numberText(value)?.trim();
    const units = digits ? Number(digits) : Number.NaN; // an empty string must not become 1970
    return Number.isInteger(units) && units >= 0 && units * unit < (LATEST_SECOND + 1) * 1000
      ? isoText(units * unit)
      : null;
  };
}

/** A lock time: the instant, null beyond the year 9999, and the Unix seconds as they came. */
interface LockTime {
  readonly value: string | null;
  readonly raw: string;
}

/**
 * Unix seconds until which something is locked, which may be beyond every calendar (2^64-1: for ever). It becomes two
 * columns: `timestamptz`, null beyond the year 9999, and `numeric`, called `<name>_raw`.
 */
export const lockTime = (meaning?: string): z.ZodType<LockTime, unknown> => {
  const instant = unixText(1000);
  const schema = uint().transform((raw) => ({ value: instant(raw), raw }));
  columns.set(schema, {
    type: 'timestamptz',
    meaning: [meaning, 'Null beyond the year 9999: see its number.'].filter(Boolean).join(' '),
    read: instant,
    raw: {
      type: 'numeric',
      meaning: [meaning, 'Unix seconds as they came.'].filter(Boolean).join(' '),
      read: uintText,
    },
  });
  return schema;
};

const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/** Whether PostgreSQL reads the text: also the day must be one of its month, in year 1 or later. */
function isRfc3339(value: string): boolean {
  const day = RFC3339.exec(value)?.[1];
  if (day === undefined || day.startsWith('0000')) return false;
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** Digits of a second below the microsecond, which PostgreSQL would round, even into the next year. */
const BELOW_MICROSECONDS = /(\.\d{6})\d+/;

/** A time as RFC 3339 text (the node's info and health APIs), stored as `timestamptz`, cut to the microsecond. */
export const rfc3339 = (meaning?: string): Field =>
  field('an RFC 3339 time', {
    type: 'timestamptz',
    meaning,
    read: (value) =>
      typeof value === 'string' && isRfc3339(value) ? value.replace(BELOW_MICROSECONDS, '$1') : null,
  });

/** Any JSON value, kept whole; what PostgreSQL does not take of its texts is escaped (storable.ts). */
export const json = (meaning?: string): Field =>
  field('a value', {
    type: 'jsonb',
    meaning,
    read: (value) => (value === undefined ? null : storableJson(jsonText(value))),
  });

/**
 * A list, kept as `jsonb`, with a flattened view of one row an element.
 * @param element the shape of an element, as fields; absent: scalars, in a column `value`
 */
export function list(element?: z.ZodType, meaning?: string): Field {
  const normalize = normalizationOf(element);
  return listField(element, meaning, normalize && ((values) => values.map(normalize)));
}

/**
 * A list whose order has no meaning, such as addresses that may sign. Its elements are stored in the order of their JSON, so that
 * another order is no change.
 */
export function set(element?: z.ZodType, meaning?: string): Field {
  const normalize = normalizationOf(element);
  return listField(element, meaning, (values) =>
    (normalize ? values.map(normalize) : values)
      .map((value) => ({ value, text: jsonText(value) }))
      .sort((one, other) => (one.text < other.text ? -1 : Number(one.text > other.text)))
      .map(({ value }) => value),
  );
}

/** @param normalize brings the elements to the form in which they are stored; absent: they are stored as they came */
function listField(
  element: z.ZodType | undefined,
  meaning: string | undefined,
  normalize?: (values: readonly unknown[]) => readonly unknown[],
): Field {
  const read: Read = (value) =>
    Array.isArray(value) ? storableJson(jsonText(normalize ? normalize(value) : value)) : null;
  const schema = field('a list', { type: 'jsonb', meaning, element: element ?? z.unknown(), read });
  const nested: Normalize | undefined =
    normalize && ((value) => (Array.isArray(value) ? normalize(value) : value));
  if (nested) normalizations.set(schema, nested);
  return schema;
}

/** An item or a nested object: fields that are not named are kept in `extra`. */
export const object = z.looseObject;

/** Fields that {@link moves} marked. */
export const movingFields = new WeakSet<object>();

/**
 * Marks a field of a log whose value changes although the thing itself does not, such as the price of a token in a
 * transaction. A row that differs only in such fields is not a different one.
 */
export const moves = <T extends z.ZodType>(schema: T): T => {
  movingFields.add(schema);
  return schema;
};

/** A field that may be missing or null. */
export const optional = <T extends z.ZodType>(schema: T) => schema.nullish();
