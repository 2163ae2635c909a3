import { EPOCH } from '../db/copy-binary.ts';
import { type FileColumn, PRECISION } from './file-columns.ts';

/** As bytes hold them: DECIMAL of 38 digits needs 16. */
export const DECIMAL_BYTES = 16;

/** A value as statistics take it. */
export type Statistic = bigint | boolean | Uint8Array;

/** How the values of a column are stored in Parquet. No value becomes one of JavaScript but those of the statistics. */
export interface Storing {
  /** Bytes of a stored value, given those of COPY. */
  size(length: number): number;
  /** Writes the value that COPY has from `start` up to `end`, as PLAIN has it (a boolean as a byte). @returns whether it fits */
  write(bytes: Buffer, start: number, end: number, into: Buffer, at: number): boolean;
  /** Whether the stored value at `one` is less than the one at `other`, in the same bytes; null: they have no order. */
  readonly isLess:
    | ((bytes: Buffer, one: number, oneEnd: number, other: number, otherEnd: number) => boolean)
    | null;
  /** A stored value; it holds as long as its bytes. */
  statistic(bytes: Buffer, start: number, end: number): Statistic;
}

export function storingOf({ stored, scale }: FileColumn): Storing {
  switch (stored) {
    case 'text':
    case 'json':
      return text;
    case 'boolean':
      return boolean;
    case 'bigint':
      return bigint;
    case 'double':
      return double;
    case 'instant':
      return instant;
    case 'decimal':
      return decimal(scale);
  }
}

/** Bytes of a text's length. */
const LENGTH = 4;

const text: Storing = {
  size: (length) => LENGTH + length,
  write: (bytes, start, end, into, at) => {
    into.writeUInt32LE(end - start, at);
    for (let from = start, to = at + LENGTH; from < end; from += 1, to += 1) into[to] = bytes[from] ?? 0;
    return true;
  },
  isLess: (bytes, one, oneEnd, other, otherEnd) => {
    let left = one + LENGTH;
    let right = other + LENGTH;
    while (left < oneEnd && right < otherEnd && bytes[left] === bytes[right]) {
      left += 1;
      right += 1;
    }
    return right < otherEnd && (left === oneEnd || (bytes[left] ?? 0) < (bytes[right] ?? 0));
  },
  statistic: (bytes, start, end) => bytes.subarray(start + LENGTH, end),
};

const boolean: Storing = {
  size: () => 1,
  write: (bytes, start, _, into, at) => {
    into[at] = bytes[start] ?? 0;
    return true;
  },
  isLess: (bytes, one, _, other) => (bytes[one] ?? 0) < (bytes[other] ?? 0),
  statistic: (bytes, start) => bytes[start] === 1,
};

/** Eight bytes the other way round, as Parquet has numbers. */
function turned(bytes: Buffer, start: number, _: number, into: Buffer, at: number): true {
  for (let place = 0; place < 8; place += 1) into[at + place] = bytes[start + 7 - place] ?? 0;
  return true;
}

const bigint: Storing = {
  size: () => 8,
  write: turned,
  isLess: (bytes, one, _, other) => {
    const left = bytes.readInt32LE(one + 4);
    const right = bytes.readInt32LE(other + 4);
    return left === right ? bytes.readUInt32LE(one) < bytes.readUInt32LE(other) : left < right;
  },
  statistic: (bytes, start) => bytes.readBigInt64LE(start),
};

/** Not a number has no order, and no dataset has such a column yet. */
const double: Storing = { ...bigint, isLess: null };

const HALF = 2 ** 32;
const EPOCH_LOW = Number(EPOCH % BigInt(HALF));
const EPOCH_HIGH = Number(EPOCH / BigInt(HALF));

/** Microseconds since 1970. */
const instant: Storing = {
  ...bigint,
  write: (bytes, start, _, into, at) => {
    const low = bytes.readUInt32BE(start + 4) + EPOCH_LOW;
    into.writeUInt32LE(low % HALF, at);
    into.writeInt32LE((bytes.readInt32BE(start) + EPOCH_HIGH + (low >= HALF ? 1 : 0)) | 0, at + 4);
    return true;
  },
};

/** From the digits that COPY gives as text. */
function decimal(scale: number): Storing {
  const number = new WideNumber();
  return {
    size: () => DECIMAL_BYTES,
    write: (bytes, start, end, into, at) => {
      const fits = number.read(bytes, start, end, scale);
      if (fits) number.write(into, at);
      return fits;
    },
    isLess: (bytes, one, _, other) => {
      for (let place = 0; place < DECIMAL_BYTES; place += 4) {
        const left = bytes.readInt32BE(one + place);
        const right = bytes.readInt32BE(other + place);
        if (left !== right) return place === 0 ? left < right : left >>> 0 < right >>> 0;
      }
      return false;
    },
    statistic: (bytes, start) => (bytes.readBigInt64BE(start) << 64n) | bytes.readBigUInt64BE(start + 8),
  };
}

const ZERO = 48;
const POINT = 46;
const MINUS = 45;

/** Three bytes: products of a part and 10^8 are exact. */
const PART = 2 ** 24;
const PARTS = 6;
const AT_ONCE = 10 ** 8;

/** A whole number of up to 38 digits that is read digit by digit. With BigInt this was a fifth of an export. */
class WideNumber {
  /** The lowest first. */
  readonly #parts = new Float64Array(PARTS);
  #negative = false;

  /**
   * Reads digits in units of the last of `scale` decimals.
   * @returns whether they are digits, and so many that they fit
   */
  read(bytes: Buffer, start: number, end: number, scale: number): boolean {
    this.#parts.fill(0);
    this.#negative = bytes[start] === MINUS;
    const first = start + (this.#negative ? 1 : 0);
    let point = first;
    while (point < end && bytes[point] !== POINT) point += 1;
    if (point === first || point - first + scale > PRECISION) return false;
    let group = 0;
    let factor = 1;
    const last = point + 1 + scale;
    for (let at = first; at < Math.max(last, end); at += 1) {
      if (at === point) continue;
      const digit = at < end ? (bytes[at] ?? 0) - ZERO : 0;
      if (digit < 0 || digit > 9) return false;
      if (at >= last) {
        if (digit !== 0) return false;
        continue;
      }
      group = group * 10 + digit;
      factor *= 10;
      if (factor < AT_ONCE) continue;
      this.#append(factor, group);
      group = 0;
      factor = 1;
    }
    this.#append(factor, group);
    return true;
  }

  #append(factor: number, digits: number): void {
    let carry = digits;
    for (let at = 0; at < PARTS; at += 1) {
      const product = (this.#parts[at] ?? 0) * factor + carry;
      carry = Math.floor(product / PART);
      this.#parts[at] = product - carry * PART;
    }
  }

  /** Writes it as two's complement, the highest byte first. */
  write(into: Buffer, at: number): void {
    let carry = 1;
    for (let place = 0; place < DECIMAL_BYTES; place += 1) {
      let byte = ((this.#parts[Math.floor(place / 3)] ?? 0) >>> (8 * (place % 3))) & 0xff;
      if (this.#negative) {
        byte = 0xff - byte + carry;
        carry = byte >>> 8;
      }
      into[at + DECIMAL_BYTES - 1 - place] = byte & 0xff;
    }
  }
}
