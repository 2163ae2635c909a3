import { bytesOfCb58, cb58 } from '../ids/base58.ts';
import { isObject, type Json, type JsonObject, Literal } from '../json.ts';
import type { FaultContext, FaultEffect } from './context.ts';
import { documentOf, listOf, replaceMember, withDocument } from './documents.ts';
import type { ItemKind } from './kinds.ts';

/** Fields that hold one value of a closed set. */
const ENUMS = ['txType', 'blockType', 'ercType', 'rewardType', 'utxoType', 'callType', 'txStatus', 'status'];
const HASHES = ['blockHash', 'txHash', 'txID'];

function isNumeric(value: Json | undefined): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
  );
}

/** Returns the field to corrupt: the value of a metric, else one of the suitable fields. */
function field(
  item: JsonObject,
  draw: number,
  fits: (name: string, value: Json | undefined) => boolean,
): string | undefined {
  const names = Object.keys(item).filter((name) => item[name] !== undefined && fits(name, item[name]));
  return names.includes('value') ? 'value' : names[draw % Math.max(1, names.length)];
}

function without(item: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== name));
}

/** Replaces a numeric field of an item by other digits, as text if the correct value is text. */
function number(item: JsonObject, draw: number, digits: string): JsonObject | undefined {
  const name = field(item, draw, (_, value) => isNumeric(value));
  if (name === undefined) return undefined;
  return { ...item, [name]: typeof item[name] === 'string' ? digits : new Literal(digits) };
}

function text(item: JsonObject, draw: number, change: (value: string) => string): JsonObject | undefined {
  const name = field(item, draw, (_, value) => typeof value === 'string');
  return name === undefined ? undefined : { ...item, [name]: change(String(item[name])) };
}

/** Returns another id of the same shape. */
function otherHash(id: string, draw: number): string {
  const bytes = bytesOfCb58(id, 32);
  if (bytes === undefined) return `${id.slice(0, -1)}${(Number.parseInt(id.slice(-1), 16) ^ 1).toString(16)}`;
  bytes[draw % 32] = (bytes[draw % 32] ?? 0) ^ 1;
  return cb58(bytes);
}

/** Returns an item with `__proto__` and `constructor` as own members. */
function withProto(item: JsonObject): JsonObject {
  const result = Object.fromEntries([
    ...Object.entries(item),
    ['constructor', { prototype: { polluted: true } }],
  ]);
  Object.defineProperty(result, '__proto__', { value: { polluted: true }, enumerable: true });
  return result;
}

function corruptItem(kind: ItemKind, item: JsonObject, draw: number): Json | undefined {
  const any = field(item, draw, () => true);
  switch (kind) {
    case 'null-item':
      return null;
    case 'null-field':
      return any === undefined ? undefined : { ...item, [any]: null };
    case 'missing-field':
      return any === undefined ? undefined : without(item, any);
    case 'nan-string': {
      const name = field(item, draw, (_, value) => isNumeric(value));
      return name === undefined ? undefined : { ...item, [name]: 'NaN' };
    }
    case 'negative':
      return number(item, draw, '-17');
    case 'huge-integer':
      return number(item, draw, '9007199254740993');
    case 'huge-exponent':
      return number(item, draw, '1e400');
    case 'minus-zero':
      return number(item, draw, '-0');
    case 'long-digits':
      return number(item, draw, '123456789012345678901234567890');
    case 'long-string':
      return text(item, draw, () => 'x'.repeat(1 << 20)) ?? { ...item, note: 'x'.repeat(1 << 20) };
    case 'unknown-enum': {
      const name = field(item, draw, (key) => ENUMS.includes(key));
      return name === undefined ? undefined : { ...item, [name]: 'SomethingNobodyKnowsTx' };
    }
    case 'extra-field':
      return { ...item, fieldOfTomorrow: { since: 'tomorrow', list: [1, '2', null] } };
    case 'nul-character':
      return text(item, draw, (value) => `${value}\u0000`) ?? { ...item, note: '\u0000' };
    case 'lone-surrogate':
      return text(item, draw, (value) => `${value}\ud800`) ?? { ...item, note: '\ud800' };
    case 'proto-key':
      return withProto(item);
    case 'other-hash': {
      const name = field(item, draw, (key) => HASHES.includes(key));
      return name === undefined ? undefined : { ...item, [name]: otherHash(String(item[name]), draw) };
    }
  }
}

const HARMLESS: readonly ItemKind[] = ['extra-field', 'proto-key'];

/**
 * Returns the response with one corrupted item of its list. Returns undefined if there is no list, or no item
 * with a suitable field.
 */
export function spoilItem(kind: ItemKind, context: FaultContext): FaultEffect | undefined {
  const document = documentOf(context);
  const list = document === undefined ? undefined : listOf(document);
  if (document === undefined || list === undefined) return undefined;
  const at = context.draw % list.items.length;
  const item = list.items[at];
  if (!isObject(item)) return undefined;
  const value = corruptItem(kind, item, context.draw >>> 8);
  if (value === undefined) return undefined;
  const items = list.items.map((right, i) => (i === at ? value : right));
  const lost = typeof item.timestamp === 'number' && !HARMLESS.includes(kind) ? [item.timestamp] : [];
  return {
    delivery: withDocument(context, replaceMember(document, list.path, items)),
    readable: { without: lost },
  };
}
