import { z } from 'zod';
import { unwrap } from './unwrap.ts';

/**
 * Returns the canonical form of bytes written as `0x…`: lower case. Other texts, such as ids in base58, are
 * returned unchanged.
 */
export function canonicalHex(text: string): string {
  if (!text.startsWith('0x')) return text;
  const lower = text.toLowerCase();
  // Most texts are already in lower case, so that the pattern is rarely tested.
  return lower !== text && /^0x[0-9a-fA-F]*$/.test(text) ? lower : text;
}

/** Converts a JSON value to its canonical stored form. */
export type Normalize = (value: unknown) => unknown;

/** Normalizations by field schema. Only `hex`, `list` and `set` in fields.ts register one. */
export const normalizations = new WeakMap<object, Normalize>();

/**
 * Returns the normalization of the values of a schema. Returns undefined if values are stored as received.
 */
export function normalizationOf(schema: unknown): Normalize | undefined {
  const { inner } = unwrap(schema);
  if (typeof inner !== 'object' || inner === null) return undefined;
  const own = normalizations.get(inner);
  if (own || !(inner instanceof z.ZodObject)) return own;
  const members = Object.entries(inner.shape).flatMap(([name, member]) => {
    const normalize = normalizationOf(member);
    return normalize ? [{ name, normalize }] : [];
  });
  if (members.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const present = members.filter(({ name }) => Object.hasOwn(value, name));
    const normalized = present.map(({ name, normalize }) => [name, normalize(Reflect.get(value, name))]);
    return { ...value, ...Object.fromEntries(normalized) };
  };
}
