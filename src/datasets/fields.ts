import { z } from 'zod';
import { isExactNumber, jsonText } from '../upstreams/json.ts';
import { isoText } from './iso-text.ts';
import { hexFields, oneSpelling, respellingOf } from './spelling.ts';
import { storableJson, storableText } from './storable.ts';

/** PostgreSQL's type of a column. */
export type ColumnType =
  | 'text'
  | 'numeric'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'jsonb'
  | 'double precision';

/** A column that a leaf becomes. */
export interface Column {
  readonly type: ColumnType;
  /** The begin of the column's COMMENT; the upstream's field name follows. */
  readonly meaning?: string | undefined;
  /** The shape of a list's elements, for the flattened view; absent for scalars. */
  readonly element?: z.ZodType | undefined;
  /** A second column of the leaf, `<name>_raw`; the leaf is then an object of the texts `value` and `raw`. */
  readonly raw?: Column;
}

/** Which column a field's schema becomes. Every leaf of an item's schema is registered here. */
export const columns = new WeakMap<object, Column>();

/**
 * A leaf of an item: checks one upstream value and turns it into the text that PostgreSQL reads for its column.
 * The texts are exact: no amount passes through a double.
 */
export type Field = z.ZodType<string, unknown>;

function field(
  type: ColumnType,
  meaning: string | undefined,
  read: (value: unknown) => string | Refusal,
): Field {
  const schema = z.transform((value: unknown, context): string => {
    const result = read(value);
    if (typeof result === 'string') return result;
    context.issues.push({ code: 'custom', message: `${result.expected} expected`, input: value });
    return z.NEVER;
  });
  columns.set(schema, { type, meaning });
  return schema;
}

class Refusal {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

/** The longest text that any field may hold, in UTF-16 units; genesis data and code may be that long. */
const LONGEST_TEXT = 1_000_000;

/** A string, kept as it is; what PostgreSQL does not take of it is escaped (storable.ts). */
export const text = (meaning?: string): Field =>
  field('text', meaning, (value) =>
    typeof value === 'string' && value.length <= LONGEST_TEXT
      ? storableText(value)
      : new Refusal(`a string of at most ${LONGEST_TEXT} characters`),
  );

/**
 * Bytes written as `0x…`: addresses, hashes, keys, signatures. They are stored in lower case, because the case of the
 * digits has no meaning and differs between services. Ids in base58, which may come in the same field, are kept.
 */
export const hex = (meaning?: string): Field => {
  const schema = field('text', meaning, (value) =>
    typeof value === 'string' && value.length <= LONGEST_TEXT
      ? oneSpelling(storableText(value))
      : new Refusal(`a string of at most ${LONGEST_TEXT} characters`),
  );
  hexFields.add(schema);
  return schema;
};

/** The source text of a number that came as a JSON number or as a string; null for anything else. */
function numberText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  return isExactNumber(value) ? value.value : null;
}

const UNSIGNED = /^\d{1,1000}$/;
const DECIMAL = /^-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/;

function matching(type: ColumnType, pattern: RegExp, expected: string, meaning?: string): Field {
  const refusal = new Refusal(expected);
  return field(type, meaning, (value) => {
    const digits = numberText(value);
    return digits !== null && pattern.test(digits) ? digits : refusal;
  });
}

/** An unsigned integer of any size, from a JSON number or a decimal string: amounts, weights, heights. */
export const uint = (meaning?: string): Field =>
  matching('numeric', UNSIGNED, 'an unsigned integer', meaning);

/** As uint, but may be negative: what the genesis made is in block -1. */
export const integer = (meaning?: string): Field =>
  matching('numeric', /^-?\d{1,1000}$/, 'an integer', meaning);

/** A number with or without decimals, from a JSON number or a string: percentages, metric values, prices. */
export const decimal = (meaning?: string): Field => matching('numeric', DECIMAL, 'a decimal number', meaning);

/** A small unsigned integer: counts, sizes, indexes; at most 2^53. */
export const count = (meaning?: string): Field =>
  matching('bigint', /^\d{1,16}$/, 'an unsigned integer of at most 16 digits', meaning);

/** True or false. */
export const flag = (meaning?: string): Field =>
  field('boolean', meaning, (value) =>
    typeof value === 'boolean' ? String(value) : new Refusal('a boolean'),
  );

const LATEST_SECOND = 253_402_300_799; // the year 9999

/** Unix seconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixSeconds = (meaning?: string): Field => unixTime(1000, 'Unix seconds', meaning);

/** Unix milliseconds, as a JSON number or a decimal string, stored as `timestamptz`. */
export const unixMilliseconds = (meaning?: string): Field => unixTime(1, 'Unix milliseconds', meaning);

function unixTime(unit: number, expected: string, meaning?: string): Field {
  const refusal = new Refusal(expected);
  return field('timestamptz', meaning, (value) => {
    const digits = numberText(value)?.trim();
    const units = digits ? Number(digits) : Number.NaN; // an empty string must not become 1970
    return Number.isInteger(units) && units >= 0 && units * unit < (LATEST_SECOND + 1) * 1000
      ? isoText(units * unit)
      : refusal;
  });
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
  const instant = unixSeconds();
  const schema = uint().transform((raw) => ({ value: instant.safeParse(raw).data ?? null, raw }));
  columns.set(schema, {
    type: 'timestamptz',
    meaning: [meaning, 'Null beyond the year 9999: see its number.'].filter(Boolean).join(' '),
    raw: { type: 'numeric', meaning: [meaning, 'Unix seconds as they came.'].filter(Boolean).join(' ') },
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

/** A time as RFC 3339 text (the node's info and health APIs), stored as `timestamptz`, to the microsecond. */
export const rfc3339 = (meaning?: string): Field =>
  field('timestamptz', meaning, (value) =>
    typeof value === 'string' && isRfc3339(value) ? value : new Refusal('an RFC 3339 time'),
  );

/** Any JSON value, kept whole; what PostgreSQL does not take of its texts is escaped (storable.ts). */
export const json = (meaning?: string): Field =>
  field('jsonb', meaning, (value) =>
    value === undefined ? new Refusal('a value') : storableJson(jsonText(value)),
  );

/**
 * A list, kept as `jsonb`, with a flattened view of one row an element.
 * @param element the shape of an element, as fields; absent: scalars, in a column `value`
 */
export function list(element?: z.ZodType, meaning?: string): Field {
  const respell = respellingOf(element);
  const schema = z.transform((value: unknown, context): string => {
    if (Array.isArray(value)) return storableJson(jsonText(respell ? value.map(respell) : value));
    context.issues.push({ code: 'custom', message: 'a list expected', input: value });
    return z.NEVER;
  });
  columns.set(schema, { type: 'jsonb', meaning, element: element ?? z.unknown() });
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
