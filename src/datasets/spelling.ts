import { z } from 'zod';
import { unwrap } from './unwrap.ts';

/** The one spelling of bytes written as `0x…`: lower case. Any other text, such as an id in base58, is kept. */
export function oneSpelling(text: string): string {
  if (!text.startsWith('0x')) return text;
  const lower = text.toLowerCase();
  return lower !== text && /^0x[0-9a-fA-F]*$/.test(text) ? lower : text; // most are in lower case, and are not looked through
}

/** Leaves of items that are `0x…`: see `hex` in fields.ts. */
export const hexFields = new WeakSet<object>();

/** Rewrites what a schema's `0x…` leaves hold, in a JSON value of any shape. */
type Respell = (value: unknown) => unknown;

/** What brings the elements of a list to the one spelling; undefined where their shape has no `0x…` leaves. */
export function respellingOf(schema: unknown): Respell | undefined {
  const { inner } = unwrap(schema);
  if (typeof inner !== 'object' || inner === null) return undefined;
  if (hexFields.has(inner)) return (value) => (typeof value === 'string' ? oneSpelling(value) : value);
  if (!(inner instanceof z.ZodObject)) return undefined;
  const members = Object.entries(inner.shape).flatMap(([name, member]) => {
    const respell = respellingOf(member);
    return respell ? [{ name, respell }] : [];
  });
  if (members.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const present = members.filter(({ name }) => Object.hasOwn(value, name));
    const respelt = present.map(({ name, respell }) => [name, respell(Reflect.get(value, name))]);
    return { ...value, ...Object.fromEntries(respelt) };
  };
}
