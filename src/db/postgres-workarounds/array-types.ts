import type postgres from 'postgres';
import { parse } from 'postgres-array';
import { quoteInexactNumbers } from '../../upstreams/json.ts';

/**
 * OIDs of the element and array types that are read and written. The OIDs are equal on every server.
 * postgres.js would first query these OIDs on each connection. If the connection closes meanwhile, that query
 * rejects without a handler, which ends a process.
 */
const ARRAYS: Readonly<Record<string, readonly [element: number, array: number]>> = {
  bool: [16, 1000],
  bytea: [17, 1001],
  char: [18, 1002],
  name: [19, 1003],
  int8: [20, 1016],
  int2: [21, 1005],
  int4: [23, 1007],
  regproc: [24, 1008],
  text: [25, 1009],
  oid: [26, 1028],
  json: [114, 199],
  float4: [700, 1021],
  float8: [701, 1022],
  aclitem: [1033, 1034],
  bpchar: [1042, 1014],
  varchar: [1043, 1015],
  date: [1082, 1182],
  time: [1083, 1183],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  numeric: [1700, 1231],
  bit: [1560, 1561],
  varbit: [1562, 1563],
  regclass: [2205, 2210],
  regtype: [2206, 2211],
  uuid: [2950, 2951],
  jsonb: [3802, 3807],
  tstzrange: [3910, 3911],
};

/**
 * OIDs of types whose texts the driver would convert incorrectly: "true" to `false`, and times to ms instead
 * of µs.
 */
const UNCONVERTED_TYPE_OIDS = [16, 1184];
const JSON_TYPES = [114, 3802];

/**
 * Configures a client to read and write arrays with the driver's functions for their elements. Values that
 * are not arrays are sent unchanged, and so are booleans and times that are texts. JSON numbers that a double
 * cannot represent are read as texts.
 */
export function withArrays(sql: postgres.Sql): postgres.Sql {
  const { parsers, serializers } = sql.options;
  for (const type of UNCONVERTED_TYPE_OIDS) {
    const serialize = serializers[type];
    serializers[type] = (value: unknown) => (typeof value === 'string' ? value : serialize?.(value));
  }
  for (const type of JSON_TYPES) parsers[type] = (text: string) => JSON.parse(quoteInexactNumbers(text));
  for (const [element, array] of Object.values(ARRAYS)) {
    parsers[array] = (text: string) => parse(text, (value) => parsers[element]?.(value) ?? value);
    serializers[array] = (value: unknown) =>
      Array.isArray(value) ? arrayLiteral(value, serializers[element]) : value;
  }
  return sql;
}

/** Pattern of elements that PostgreSQL reads without quotes. An unquoted NULL would be a null. */
const PLAIN = /^(?!null$)[\w.:+-]+$/i;

/**
 * Encodes an array as a PostgreSQL literal.
 * @param serialize encodes an element. Default: `String`
 * @throws TypeError if an element is undefined
 */
export function arrayLiteral(
  values: readonly unknown[],
  serialize: (value: unknown) => unknown = String,
): string {
  let literal = '{';
  for (const value of values) {
    if (value === undefined) throw new TypeError('an element of an array is undefined');
    if (literal.length > 1) literal += ',';
    if (value === null) literal += 'null';
    else if (Array.isArray(value)) literal += arrayLiteral(value, serialize);
    else literal += element(String(serialize(value)));
  }
  return `${literal}}`;
}

const element = (text: string) => (PLAIN.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`);
