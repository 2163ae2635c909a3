import { z } from 'zod';
import { unwrap } from './unwrap.ts';

/** The one spelling of bytes written as `0x…`: lower case. Any other text, such as an id in base58, is kept. */
export function oneSpelling(text: string): string {
  if (!text.startsWith('0x')) return text;
  const lower = text.toLowerCase();
  return lower !== text && /^0x[0-9a-fA-F]*$/.test(text) ? lower : text; // most are in lower case, and are not looked through
}

/** Brings a JSON value of any shape to the one form in which it is stored. */
export type Normalize = (value: unknown) => unknown;

/** The normalization of a leaf of an item: `hex`, `list` and `set` in fields.ts. */
export const normalizations = new WeakMap<object, Normalize>();

/** Returns the normalization of the values of a schema; undefined if every value is stored as it came. */
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
