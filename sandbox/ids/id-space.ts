import { derive, mix } from '../random.ts';

const WORDS = 4096;
const HALF = 0x1000000;
const ROUNDS = 4;

/** What an id stands for: the kind of thing (0..63) and its number (0..2^42 - 1). */
export interface Meaning {
  readonly kind: number;
  readonly number: number;
}

/** How the ids of a space look. */
export interface IdShape {
  readonly alphabet: string;
  readonly wordLength: number;
  readonly prefix: string;
}

/**
 * Ids that look random, never collide, and can be read back: (kind, number) goes through a keyed permutation of
 * 48 bits, and each 12 of them choose a word. Nothing is stored for any id, and making one costs four hashes.
 * They look like cb58 or hex, but the base-58 ones carry no valid checksum.
 */
export class IdSpace {
  readonly #seed: number;
  readonly #prefix: string;
  readonly #wordLength: number;
  readonly #words: string[] = [];
  readonly #index = new Map<string, number>();

  constructor(seed: number, shape: IdShape) {
    this.#seed = derive(seed, `ids ${shape.prefix}${shape.wordLength}`);
    this.#prefix = shape.prefix;
    this.#wordLength = shape.wordLength;
    for (let attempt = 0; this.#words.length < WORDS; attempt += 1) this.#add(attempt, shape.alphabet);
  }

  #add(attempt: number, alphabet: string): void {
    let word = '';
    for (let i = 0; i < this.#wordLength; i += 1) {
      word += alphabet.charAt(mix(this.#seed, attempt, i) % alphabet.length);
    }
    const key = word.toLowerCase();
    if (this.#index.has(key)) return;
    this.#index.set(key, this.#words.length);
    this.#words.push(word);
  }

  /** The id of thing `number` of a kind. */
  encode(kind: number, number: number): string {
    let left = kind * 0x40000 + Math.floor(number / HALF);
    let right = number % HALF;
    for (let round = 0; round < ROUNDS; round += 1) {
      const mixed = left ^ (mix(this.#seed, right, round) & 0xffffff);
      left = right;
      right = mixed;
    }
    const words = this.#words;
    return `${this.#prefix}${words[left >>> 12]}${words[left & 4095]}${words[right >>> 12]}${words[right & 4095]}`;
  }

  /** What an id stands for (upper and lower case are alike); undefined for an id of another space. */
  decode(id: string): Meaning | undefined {
    const size = this.#wordLength;
    if (id.length !== this.#prefix.length + 4 * size || !id.startsWith(this.#prefix)) return undefined;
    const bits: number[] = [];
    for (let at = this.#prefix.length; at < id.length; at += size) {
      bits.push(this.#index.get(id.slice(at, at + size).toLowerCase()) ?? -1);
    }
    const [a = -1, b = -1, c = -1, d = -1] = bits;
    if (a < 0 || b < 0 || c < 0 || d < 0) return undefined;
    let left = a * WORDS + b;
    let right = c * WORDS + d;
    for (let round = ROUNDS - 1; round >= 0; round -= 1) {
      const unmixed = right ^ (mix(this.#seed, left, round) & 0xffffff);
      right = left;
      left = unmixed;
    }
    return { kind: left >>> 18, number: (left & 0x3ffff) * HALF + right };
  }
}
