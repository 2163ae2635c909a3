import { microsecondsOf } from '../instant.ts';
import { EPOCH } from './copy-binary.ts';
import { Rooms } from './rooms.ts';

/** How the values of a type stand in PostgreSQL's binary form. */
interface Form {
  /** PostgreSQL's number of the type. */
  readonly oid: number;
  /** The most bytes that the value of a text takes. */
  most(text: string): number;
  /** Writes the value of a text, as PostgreSQL would read the text. @returns where it ends @throws RangeError when it is no value */
  write(text: string, into: Buffer, at: number): number;
}

/** Dimensions, whether there are nulls, the type, and of the one dimension its length and its lower bound. */
const HEADER = 20;
/** An array of nothing has no dimension. */
const EMPTY = 12;
const NOTHING = Buffer.alloc(0);
const rooms = new Rooms();

/**
 * One column of many rows as the binary form of a PostgreSQL array, which PostgreSQL reads without parsing. A value is written where it
 * will be sent from as soon as it is known, outside of the heap: nothing of it is left for the garbage collector to follow.
 */
export class ArrayBytes {
  readonly #form: Form;
  #bytes: Buffer = NOTHING;
  #end = HEADER;
  /** Where the last value begins. */
  #last = HEADER;
  #length = 0;
  #hasNull = false;

  /** @throws Error when columns of rows cannot have the type */
  constructor(type: string) {
    const form = FORMS.get(type);
    if (!form) throw new Error(`no binary form of ${type} is known`);
    this.#form = form;
  }

  /** Adds the value of a text; null: no value. @throws RangeError when it is no value of the type: nothing is added */
  add(text: string | null): void {
    const last = this.#end;
    const begin = last + 4;
    this.#makeRoom(begin + (text === null ? 0 : this.#form.most(text)));
    const end = text === null ? begin : this.#form.write(text, this.#bytes, begin);
    writeInt32(this.#bytes, last, text === null ? -1 : end - begin);
    if (text === null) this.#hasNull = true;
    this.#last = last;
    this.#end = end;
    this.#length += 1;
  }

  /** Takes back the value that was added last; only one. */
  takeBack(): void {
    this.#end = this.#last;
    this.#length -= 1;
  }

  /** The array of all values; it holds until another one is added. */
  array(): Buffer {
    const dimensions = this.#length === 0 ? 0 : 1;
    this.#makeRoom(HEADER);
    writeInt32(this.#bytes, 0, dimensions);
    writeInt32(this.#bytes, 4, this.#hasNull ? 1 : 0);
    writeInt32(this.#bytes, 8, this.#form.oid);
    writeInt32(this.#bytes, 12, this.#length);
    writeInt32(this.#bytes, 16, 1);
    return this.#bytes.subarray(0, dimensions === 0 ? EMPTY : this.#end);
  }

  /** Lets its values go, and gives their room to others: nobody may use what {@link array} gave any more. */
  clear(): void {
    if (this.#bytes !== NOTHING) rooms.giveBack(this.#bytes);
    this.#bytes = NOTHING;
    this.#end = HEADER;
    this.#last = HEADER;
    this.#length = 0;
    this.#hasNull = false;
  }

  #makeRoom(end: number): void {
    if (end <= this.#bytes.length) return;
    const before = this.#bytes;
    this.#bytes = rooms.take(end);
    before.copy(this.#bytes, 0, 0, this.#end);
    if (before !== NOTHING) rooms.giveBack(before);
  }
}

function writeInt32(into: Buffer, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}

function writeInt16(into: Buffer, at: number, value: number): void {
  into[at] = value >> 8;
  into[at + 1] = value;
}

/** Of a text of so many characters each is written here; a longer one costs less in one call. */
const SHORT = 100;

function writeText(text: string, into: Buffer, at: number): number {
  const { length } = text;
  if (length > SHORT) return at + into.write(text, at);
  for (let place = 0; place < length; place += 1) {
    const code = text.charCodeAt(place);
    if (code > 0x7f) return at + into.write(text, at);
    into[at + place] = code;
  }
  return at + length;
}

const text: Form = { oid: 25, most: ({ length }) => 3 * length, write: writeText };

const jsonb: Form = {
  oid: 3802,
  most: ({ length }) => 1 + 3 * length,
  write: (text, into, at) => {
    into[at] = 1; // the version of the form: the text of the JSON
    return writeText(text, into, at + 1);
  },
};

const boolean: Form = {
  oid: 16,
  most: () => 1,
  write: (text, into, at) => {
    into[at] = text === 'true' ? 1 : 0;
    return at + 1;
  },
};

/** Whole numbers of so many digits are exact as JavaScript's. */
const EXACT_DIGITS = 15;
const TWO_TO_32 = 4_294_967_296;

function writeInt64(value: number | bigint, into: Buffer, at: number): number {
  if (typeof value === 'bigint') return into.writeBigInt64BE(value, at);
  const high = Math.floor(value / TWO_TO_32);
  writeInt32(into, at, high);
  writeInt32(into, at + 4, value - high * TWO_TO_32);
  return at + 8;
}

const bigint: Form = {
  oid: 20,
  most: () => 8,
  write: (text, into, at) => writeInt64(text.length > EXACT_DIGITS ? BigInt(text) : Number(text), into, at),
};

/** A `timestamptz` counts microseconds since 2000. */
const timestamptz: Form = {
  oid: 1184,
  most: () => 8,
  write: (text, into, at) => {
    const micros = microsecondsOf(text);
    if (micros === null) throw new RangeError(`${text} is no instant`);
    // Before 1715 PostgreSQL's count is beyond JavaScript's whole numbers where that since 1970 is not.
    const near = typeof micros === 'number' ? micros - Number(EPOCH) : Number.NaN;
    return writeInt64(Number.isSafeInteger(near) ? near : BigInt(micros) - EPOCH, into, at);
  },
};

/** A `numeric` has groups of so many decimal digits, after their number, weight, sign and scale. */
const GROUP = 4;
const NUMERIC_HEADER = 8;
const NEGATIVE = 0x4000;
const MINUS = 0x2d;
const ZERO = 0x30;
const PLAIN = /^\d+$/;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const numeric: Form = {
  oid: 1700,
  most: ({ length }) => NUMERIC_HEADER + length + 2 * GROUP,
  write: (text, into, at) => {
    const signed = text.charCodeAt(0) === MINUS;
    if (PLAIN.test(text)) return writeDigits(text, text.length, 0, signed, into, at);
    const [, sign, whole = '', part = '', exponent = '0'] = NUMBER.exec(text) ?? [];
    if (sign === undefined) throw new RangeError(`${text} is no number`);
    const power = Number(exponent);
    return writeDigits(
      whole + part,
      whole.length + power,
      Math.max(part.length - power, 0),
      signed,
      into,
      at,
    );
  },
};

/**
 * Writes a `numeric`.
 * @param digits all of them, without a point
 * @param point before which of them the point is, counted from 0; it may be beyond both ends
 * @param scale how many decimals it has
 */
function writeDigits(
  digits: string,
  point: number,
  scale: number,
  negative: boolean,
  into: Buffer,
  at: number,
): number {
  let first = 0;
  while (first < digits.length && digits.charCodeAt(first) === ZERO) first += 1;
  let end = at + NUMERIC_HEADER;
  let last = end;
  let weight = 0;
  if (first < digits.length) {
    weight = Math.floor((point - first - 1) / GROUP);
    // The first group begins so many places before the first digit.
    let from = point - (weight + 1) * GROUP;
    while (from < digits.length) {
      let group = 0;
      for (let place = from; place < from + GROUP; place += 1)
        group = group * 10 + (place >= first && place < digits.length ? digits.charCodeAt(place) - ZERO : 0);
      writeInt16(into, end, group);
      end += 2;
      from += GROUP;
      if (group !== 0) last = end; // groups of nothing at the end are not written
    }
  }
  writeInt16(into, at, (last - at - NUMERIC_HEADER) / 2);
  writeInt16(into, at + 2, weight);
  writeInt16(into, at + 4, negative && last > at + NUMERIC_HEADER ? NEGATIVE : 0);
  writeInt16(into, at + 6, scale);
  return last;
}

const FORMS: ReadonlyMap<string, Form> = new Map(
  Object.entries({ text, jsonb, boolean, bigint, timestamptz, numeric }),
);
