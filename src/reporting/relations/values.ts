import { isExactNumber, isInexact, parseJson } from '../../upstreams/json.ts';

/** A value that JSON can represent without rounding. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** Returns SQL of the text of an expression, the input of {@link readValue}. */
export function valueTextSql(type: string, expression: string): string {
  switch (type) {
    case 'text[]':
      return `to_json(${expression})::text`;
    case 'bytea':
      return `encode(${expression}, 'hex')`;
    default:
      return `${expression}::text`;
  }
}

/**
 * Parses the text of a column. Values are exact: `numeric` stays a text, as does any number that a double
 * would round, also within `jsonb`. Times are ISO 8601 in UTC, with microseconds if there are any; intervals
 * are ISO 8601 durations.
 */
export function readValue(type: string, text: string | null): Value {
  if (text === null) return null;
  switch (type) {
    case 'bigint':
    case 'integer':
      return isInexact(text) ? text : Number(text);
    case 'double precision':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || text === 't';
    case 'timestamptz':
      return toIsoTime(text);
    case 'jsonb':
    case 'text[]':
      return exact(parseJson(text));
    default:
      return text;
  }
}

const POSTGRES_TIME = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/;

/** Converts PostgreSQL's text of a time in UTC to ISO 8601. Infinity and years before 1 stay unchanged. */
export const toIsoTime = (text: string) => text.replace(POSTGRES_TIME, '$1T$2Z');

/** The OID of the type numeric in pg_type. */
const NUMERIC_OID = 1700;

/**
 * Converts a row that PostgreSQL wrote as a JSON object, by the rules of {@link readValue}: `numeric` becomes
 * a text, as does any number that a double would round.
 */
export function exactRow(
  row: string,
  columns: readonly { readonly name: string; readonly type: number }[],
): string {
  const value = parseJson(row);
  if (typeof value !== 'object' || value === null) throw new Error('the row is not an object');
  const numeric = new Set(columns.filter(({ type }) => type === NUMERIC_OID).map(({ name }) => name));
  const members = Object.entries(value).map(([name, member]: [string, unknown]): [string, Value] => {
    const found = exact(member);
    return [name, numeric.has(name) && typeof found === 'number' ? decimalText(found) : found];
  });
  return JSON.stringify(Object.fromEntries(members));
}

/** Returns the digits of a number, without an exponent for small numbers. */
function decimalText(number: number): string {
  const text = String(number);
  const [, sign = '', first = '', rest = '', places = ''] = /^(-?)(\d)\.?(\d*)e-(\d+)$/.exec(text) ?? [];
  return first === '' ? text : `${sign}0.${'0'.repeat(Number(places) - 1)}${first}${rest}`;
}

/** Converts numbers that a double would round to texts. */
function exact(value: unknown): Value {
  if (isExactNumber(value)) return value.value;
  if (Array.isArray(value)) return value.map(exact);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, exact(part)]));
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return null;
}
