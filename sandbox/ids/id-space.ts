import { derive, mix } from '../random.ts';

const WORDS = 4096;
const HALF = 0x1000000;
const ROUNDS = 4;

/** Meaning of an id: the kind of entity (0 to 63) and the number of the entity (0 to 2^42 - 1). */
export interface Meaning {
  readonly kind: number;
  readonly number: number;
}

/** Form of the ids of a space, which consist of four words of bytes. */
export interface IdShape {
  readonly name: string;
  readonly wordBytes: number;
  write(bytes: Uint8Array): string;
  /** Returns the bytes of an id; undefined if it is invalid. */
  read(id: string): Buffer | undefined;
}

/**
 * Pseudorandom ids that never collide and can be decoded. A keyed permutation maps (kind, number) to 48 bits,
 * and each group of 12 bits selects a word. No id is stored.
 */
export class IdSpace {
  readonly #seed: number;
  readonly #shape: IdShape;
  readonly #words: Buffer[] = [];
  readonly #index = new Map<string, number>();

  constructor(seed: number, shape: IdShape) {
    this.#seed = derive(seed, `ids ${shape.name}`);
    this.#shape = shape;
    for (let attempt = 0; this.#words.length < WORDS; attempt += 1) this.#add(attempt);
  }

  #add(attempt: number): void {
    const word = Buffer.alloc(this.#shape.wordBytes);
    for (let i = 0; i < word.length; i += 1) word[i] = mix(this.#seed, attempt, i);
    const key = word.toString('hex');
    if (this.#index.has(key)) return;
    this.#index.set(key, this.#words.length);
    this.#words.push(word);
  }

  /** Returns the bytes of the id of object `number` of a kind. */
  bytes(kind: number, number: number): Buffer {
    let left = kind * 0x40000 + Math.floor(number / HALF);
    let right = number % HALF;
    for (let round = 0; round < ROUNDS; round += 1) {
      const mixed = left ^ (mix(this.#seed, right, round) & 0xffffff);
      left = right;
      right = mixed;
    }
    const size = this.#shape.wordBytes;
    const bytes = Buffer.allocUnsafe(4 * size);
    this.#words[left >>> 12]?.copy(bytes, 0);
    this.#words[left & 4095]?.copy(bytes, size);
    this.#words[right >>> 12]?.copy(bytes, 2 * size);
    this.#words[right & 4095]?.copy(bytes, 3 * size);
    return bytes;
  }

  /** Returns the id of object `number` of a kind. */
  encode(kind: number, number: number): string {
    return this.#shape.write(this.bytes(kind, number));
  }

  /** Returns the meaning of an id. Returns undefined for an id of another space. */
  decode(id: string): Meaning | undefined {
    const size = this.#shape.wordBytes;
    const bytes = this.#shape.read(id);
    if (bytes === undefined) return undefined;
    const [a = -1, b = -1, c = -1, d = -1] = [0, 1, 2, 3].map(
      (word) => this.#index.get(bytes.toString('hex', word * size, (word + 1) * size)) ?? -1,
    );
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
