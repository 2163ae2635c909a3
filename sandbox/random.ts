/**
 * Adds a word to the state of a hash. Keyed hashing replaces a random generator: every value of the model is
 * a pure function of a seed and of the identity of the value. So values can be computed independently, in any
 * order.
 */

function absorb(state: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = state ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(state: number): number {
  let h = state ^ (state >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Returns a 32-bit hash (murmur3's steps) of a seed and up to three numbers, modulo 2^32. */
export function mix(seed: number, a: number, b = 0, c = 0): number {
  return finish(absorb(absorb(absorb(seed, a), b), c));
}

/** Returns the result of {@link mix} as a fraction, inclusive 0, exclusive 1. */
export function unit(seed: number, a: number, b = 0, c = 0): number {
  return mix(seed, a, b, c) / 0x1_0000_0000;
}

/** Returns an integer in a range, inclusive start and end. */
export function between(seed: number, from: number, to: number, a: number, b = 0, c = 0): number {
  return from + Math.floor(unit(seed, a, b, c) * (to - from + 1));
}

/** Returns one item of a list that is not empty. */
export function pick<T>(items: readonly T[], seed: number, a: number, b = 0, c = 0): T {
  const item = items[mix(seed, a, b, c) % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Returns a seed for a part of the model, derived from the seed of the parent and the name of the part. */
export function derive(seed: number, name: string): number {
  let state = absorb(seed, name.length);
  for (let i = 0; i < name.length; i += 1) state = absorb(state, name.charCodeAt(i));
  return finish(state);
}
