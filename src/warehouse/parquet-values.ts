import { EPOCH } from '../db/copy-binary.ts';
import { type FileColumn, unscaled } from './file-columns.ts';

/** As bytes hold them: DECIMAL of 38 digits needs 16. */
export const DECIMAL_BYTES = 16;

/** Bytes of a value, from `start` up to `end`. */
export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** How the values of a column are stored in Parquet. */
export interface Storing {
  /** Bytes of a stored value, given those of COPY. */
  size(length: number): number;
  /** Writes a value as PLAIN has it (a boolean as a byte). @returns whether it fits */
  write(value: Span, into: Buffer, at: number): boolean;
  /** A stored value as statistics take it, in the same bytes; undefined: it has no order there. */
  statistic(value: Span): bigint | boolean | Uint8Array | undefined;
}

/** @throws never; a value that fits no column is told by `write` */
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

const text: Storing = {
  size: (length) => 4 + length,
  write: ({ bytes, start, end }, into, at) => {
    into.writeUInt32LE(end - start, at);
    for (let from = start, to = at + 4; from < end; from += 1, to += 1) into[to] = bytes[from] ?? 0;
    return true;
  },
  statistic: ({ bytes, start, end }) => bytes.subarray(start + 4, end),
};

const boolean: Storing = {
  size: () => 1,
  write: ({ bytes, start }, into, at) => {
    into[at] = bytes[start] ?? 0;
    return true;
  },
  statistic: ({ bytes, start }) => bytes[start] === 1,
};

/** Eight bytes the other way round, as Parquet has numbers. */
function turned({ bytes, start }: Span, into: Buffer, at: number): true {
  for (let place = 0; place < 8; place += 1) into[at + place] = bytes[start + 7 - place] ?? 0;
  return true;
}

const bigint: Storing = {
  size: () => 8,
  write: turned,
  statistic: ({ bytes, start }) => bytes.readBigInt64LE(start),
};

/** Not a number has no order, and no dataset has such a column yet. */
const double: Storing = { size: () => 8, write: turned, statistic: () => undefined };

const HALF = 2 ** 32;
const EPOCH_LOW = Number(EPOCH % BigInt(HALF));
const EPOCH_HIGH = Number(EPOCH / BigInt(HALF));

/** Microseconds since 1970. */
const instant: Storing = {
  size: () => 8,
  write: ({ bytes, start }, into, at) => {
    const low = bytes.readUInt32BE(start + 4) + EPOCH_LOW;
    into.writeUInt32LE(low % HALF, at);
    into.writeInt32LE((bytes.readInt32BE(start) + EPOCH_HIGH + (low >= HALF ? 1 : 0)) | 0, at + 4);
    return true;
  },
  statistic: ({ bytes, start }) => bytes.readBigInt64LE(start),
};

/** From the digits that COPY gives as text. */
function decimal(scale: number): Storing {
  const unit = 10n ** BigInt(scale);
  const number = new DataView(new ArrayBuffer(DECIMAL_BYTES));
  const bytesOf = new Uint8Array(number.buffer);
  return {
    size: () => DECIMAL_BYTES,
    write: ({ bytes, start, end }, into, at) => {
      const whole = shortWhole(bytes, start, end);
      const value = whole < 0 ? unscaled(bytes.toString('latin1', start, end), scale) : BigInt(whole) * unit;
      number.setBigInt64(0, (value ?? 0n) >> 64n);
      number.setBigUint64(8, BigInt.asUintN(64, value ?? 0n));
      into.set(bytesOf, at);
      return value !== null;
    },
    statistic: ({ bytes, start }) => (bytes.readBigInt64BE(start) << 64n) | bytes.readBigUInt64BE(start + 8),
  };
}

/** Digits of which a double holds every number. */
const SHORT = 15;
const ZERO = 48;

/** The number that a few digits are; -1: they are many, or more than digits. */
function shortWhole(bytes: Buffer, start: number, end: number): number {
  if (end - start > SHORT) return -1;
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    number = 10 * number + digit;
  }
  return number;
}
