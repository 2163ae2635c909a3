import { z } from 'zod';
import { canonicalJson } from '../upstreams/canonical-json.ts';
import { isExactNumber, jsonText } from '../upstreams/json.ts';
import { canonicalHex, type Normalize, normalizationOf, normalizations } from './canonical-hex.ts';
import { storableJson, storableText } from './storable-text.ts';

/** PostgreSQL type of a column. */
export type ColumnType =
  | 'text'
  | 'numeric'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'jsonb'
  | 'double precision';

/**
 * Range of the numbers of a `numeric` column, for file formats with limits. `wide`: integers of up to 256
 * bits. `decimal`: with decimals. Undefined: integers of at most 38 digits. The range does not limit recorded
 * values.
 */
export type Digits = 'wide' | 'decimal';

/**
 * Converts one upstream value to the exact text of its column. Returns null if the field does not accept the
 * value.
 */
type ReadValue = (value: unknown) => string | null;

/** A column of a leaf. */
export interface FieldColumn {
  readonly type: ColumnType;
  readonly read: ReadValue;
  /** Start of the COMMENT of the column. The name of the upstream field follows. */
  readonly meaning?: string | undefined;
  /** Only for `numeric`: see {@link Digits}. */
  readonly digits?: Digits;
  /** Schema of the elements of a list, for the flattened view. Undefined for scalars. */
  readonly element?: z.ZodType | undefined;
  /**
   * A second column of the leaf, `<name>_raw`. The leaf is then an object with the texts `value` and `raw`.
   * The `read` of this column decides whether a value is accepted; the first column is null if its own `read`
   * returns null.
   */
  readonly raw?: FieldColumn;
}

/** Columns by the schema of their field. Every leaf of the schema of an item is registered here. */
const columns = new WeakMap<object, FieldColumn>();

/** Returns the column of a leaf. Returns undefined for a schema that is none of the fields below. */
export const columnOf = (schema: unknown): FieldColumn | undefined =>
  typeof schema === 'object' && schema !== null ? columns.get(schema) : undefined;

/**
 * A leaf of an item, which validates one upstream value and converts it to the PostgreSQL text of its column.
 * The texts are exact: no amount is converted to a double.
 */
export type Field = z.ZodType<string, unknown>;

/**
 * Creates a leaf with a column.
 * @param expected description of accepted values, for error messages
 */
function field(expected: string, column: FieldColumn): Field {
  const schema = z.transform((value: unknown, context): string => {
    const result = column.read(value);
    if (result !== null) return result;
    context.issues.push({ code: 'custom', message: `${expected} expected`, input: value });
    return z.NEVER;
  });
  columns.set(schema, column);
  return schema;
}

/** Maximum length of a text in any field, in UTF-16 code units. Genesis data and code may be that long. */
const MAX_TEXT_LENGTH = 1_000_000;

/**
 * Returns a string of at most {@link MAX_TEXT_LENGTH} in its storable form. Returns null for any other value.
 */
const shortText = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? storableText(value) : null;
const SHORT_TEXT = `a string of at most ${MAX_TEXT_LENGTH} characters`;

/** A string. Characters that PostgreSQL cannot store are escaped (storable-text.ts). */
export const text = (meaning?: string): Field =>
  field(SHORT_TEXT, { type: 'text', meaning, read: shortText });

/**
 * Bytes written as `0x…`: addresses, hashes, keys, signatures. These texts are stored in lower case, because
 * the case has no meaning and differs between services. Ids in base58, which the same field may contain, are
 * unchanged.
 */
export const hex = (meaning?: string): Field => {
  const read: ReadValue = (value) => {
    const written = shortText(value);
    return written === null ? null : canonicalHex(written);
  };
  const schema = field(SHORT_TEXT, { type: 'text', meaning, read });
  normalizations.set(schema, (value) => (typeof value === 'string' ? canonicalHex(value) : value));
  return schema;
};

/**
 * Returns the source text of a number that is a JSON number or a string. Returns null for any other value.
 */
function numberText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  return isExactNumber(value) ? value.value : null;
}

/** Returns a reader of numbers that match a pattern. */
const matching =
  (pattern: RegExp): ReadValue =>
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

/** Same as uint, for up to 256 bits: amounts and token ids of EVM chains. */
export const uint256 = (meaning?: string): Field =>
  field('an unsigned integer', { type: 'numeric', digits: 'wide', meaning, read: uintText });

/** Same as uint, but may be negative: the block number of the genesis is -1. */
export const integer = (meaning?: string): Field =>
  field('an integer', { type: 'numeric', meaning, read: integerText });

/** A number with or without decimals, from a JSON number or a string: percentages, metric values, prices. */
export const decimal = (meaning?: string): Field =>
  field('a decimal number', { type: 'numeric', digits: 'decimal', meaning, read: decimalText });

/** A small unsigned integer: counts, sizes, indexes. Maximum: 2^53, as 16 digits. */
export const count = (meaning?: string): Field =>
  field('an unsigned integer of at most 16 digits', { type: 'bigint', meaning, read: countText });

export const flag = (meaning?: string): Field =>
  field('a boolean', {
    type: 'boolean',
    meaning,
    read: (value) => (typeof value === 'boolean' ? String(value) : null),
  });

const MAX_UNIX_SECONDS = 253_402_300_799; // the year 9999

/** Unix seconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixSeconds = (meaning?: string): Field => unixTime(1000, 'Unix seconds', meaning);

/** Unix milliseconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixMilliseconds = (meaning?: string): Field => unixTime(1, 'Unix milliseconds', meaning);

function unixTime(unit: number, expected: string, meaning?: string): Field {
  return field(expected, { type: 'timestamptz', meaning, read: unixText(unit) });
}

/**
 * Returns a reader of Unix times, as ISO 8601.
 * @param unit length of the unit, in ms
 */
function unixText(unit: number): ReadValue {
  return (value) => {
    const digits = numberText(value)?.trim();
    const units = digits ? Number(digits) : Number.NaN; // an empty string must not become 1970
    return Number.isInteger(units) && units >= 0 && units * unit < (MAX_UNIX_SECONDS + 1) * 1000
      ? new Date(units * unit).toISOString()
      : null;
  };
}

/** A lock time: the instant, or null after the year 9999, and the Unix seconds as received. */
interface LockTime {
  readonly value: string | null;
  readonly raw: string;
}

/**
 * Unix seconds until which something is locked. The value may exceed every calendar (2^64-1: forever). The
 * field becomes two columns: `timestamptz`, null after the year 9999, and `numeric`, named `<name>_raw`.
 */
export const lockTime = (meaning?: string): z.ZodType<LockTime, unknown> => {
  const instant = unixText(1000);
  const schema = uint().transform((raw) => ({ value: instant(raw), raw }));
  columns.set(schema, {
    type: 'timestamptz',
    meaning: [meaning, 'Null after the year 9999: see the column with the number.'].filter(Boolean).join(' '),
    read: instant,
    raw: {
      type: 'numeric',
      meaning: [meaning, 'Unix seconds as received.'].filter(Boolean).join(' '),
      read: uintText,
    },
  });
  return schema;
};

const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/**
 * Returns whether PostgreSQL accepts the text. The day must exist in its month, and the year must be at least
 * 1.
 */
function isRfc3339(value: string): boolean {
  const day = RFC3339.exec(value)?.[1];
  if (day === undefined || day.startsWith('0000')) return false;
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** Matches the digits below a microsecond. PostgreSQL would round the time, even into the next year. */
const BELOW_MICROSECONDS = /(\.\d{6})\d+/;

/**
 * A time as RFC 3339 text (info and health APIs of nodes), stored as `timestamptz`, truncated to the
 * microsecond.
 */
export const rfc3339 = (meaning?: string): Field =>
  field('an RFC 3339 time', {
    type: 'timestamptz',
    meaning,
    read: (value) =>
      typeof value === 'string' && isRfc3339(value) ? value.replace(BELOW_MICROSECONDS, '$1') : null,
  });

/** Any JSON value. Characters in it that PostgreSQL cannot store are escaped (storable-text.ts). */
export const json = (meaning?: string): Field =>
  field('a value', {
    type: 'jsonb',
    meaning,
    read: (value) => (value === undefined ? null : storableJson(jsonText(value))),
  });

/**
 * A list, stored as `jsonb`, with a flattened view of one row per element.
 * @param element schema of an element. Default: scalars, in a column `value`.
 */
export function list(element?: z.ZodType, meaning?: string): Field {
  const normalize = normalizationOf(element);
  return listField(element, meaning, normalize && ((values) => values.map(normalize)));
}

/**
 * A list whose order has no meaning, such as addresses that may sign. The elements of the list are sorted by
 * their canonical JSON, so that a different order of elements or of their members is no change.
 */
export function set(element?: z.ZodType, meaning?: string): Field {
  const normalize = normalizationOf(element);
  return listField(element, meaning, (values) =>
    (normalize ? values.map(normalize) : values)
      .map((value) => ({ value, text: canonicalJson(value) }))
      .sort((one, other) => (one.text < other.text ? -1 : Number(one.text > other.text)))
      .map(({ value }) => value),
  );
}

/**
 * Creates a leaf for a list.
 * @param normalize converts the elements to their stored form. Default: the elements are stored as received.
 */
function listField(
  element: z.ZodType | undefined,
  meaning: string | undefined,
  normalize?: (values: readonly unknown[]) => readonly unknown[],
): Field {
  const read: ReadValue = (value) =>
    Array.isArray(value) ? storableJson(jsonText(normalize ? normalize(value) : value)) : null;
  const schema = field('a list', { type: 'jsonb', meaning, element: element ?? z.unknown(), read });
  const nested: Normalize | undefined =
    normalize && ((value) => (Array.isArray(value) ? normalize(value) : value));
  if (nested) normalizations.set(schema, nested);
  return schema;
}

/** An item or a nested object. Unknown fields are kept in `extra`. */
export const object = z.looseObject;

/** Fields that {@link moves} has marked. */
export const movingFields = new WeakSet<object>();

/**
 * Marks a field of a log whose value changes although the entity does not, such as the price of a token in a
 * transaction. A difference in such fields alone does not create a new row.
 */
export const moves = <T extends z.ZodType>(schema: T): T => {
  movingFields.add(schema);
  return schema;
};

/** A field that may be missing or null. */
export const optional = <T extends z.ZodType>(schema: T) => schema.nullish();
