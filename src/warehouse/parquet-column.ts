import type { FileColumn } from './file-columns.ts';
import { DoesNotFit } from './file-writer.ts';
import { type Span, type Storing, storingOf } from './parquet-values.ts';

/** The values of a column in a row group as Parquet stores them. */
export interface StoredColumn {
  /** The distinct values, one after another. */
  readonly values: Buffer;
  /** Where each of them ends. */
  readonly ends: Int32Array;
  /** Which of them each row has; -1: none. */
  readonly rows: Int32Array;
  /** The least and the greatest, where they have an order. */
  readonly least?: bigint | boolean | Uint8Array;
  readonly greatest?: bigint | boolean | Uint8Array;
}

/**
 * Takes the values of a column for a row group: each distinct one once, in the bytes in which COPY gives it, and which of them each
 * row has. So no cell becomes a value of JavaScript, and what comes again is only compared.
 */
export class ParquetColumn {
  readonly #column: FileColumn;
  readonly #storing: Storing;
  readonly #exactBeside: boolean;
  #values = Buffer.allocUnsafe(4_096);
  #ends = new Int32Array(256);
  #hashes = new Int32Array(256);
  /** By hash, the place of a value and 1; 0: free. Its length is a power of 2. */
  #slots = new Int32Array(1_024);
  #distinct = 0;
  #rows = new Int32Array(1_024);
  #count = 0;

  /** @param exactBeside a value that does not fit is null, because another column has its digits */
  constructor(column: FileColumn, exactBeside: boolean) {
    this.#column = column;
    this.#storing = storingOf(column);
    this.#exactBeside = exactBeside;
  }

  /** Bytes of the distinct values. */
  get size(): number {
    return endOf(this.#ends, this.#distinct - 1);
  }

  /** @throws Error where every row has a value: a file would be one that nobody can read */
  addNull(): void {
    const { name, nullable } = this.#column;
    if (!nullable) throw new Error(`${name}: a row has no value, and every row should have one`);
    this.#addRow(-1);
  }

  /** Takes the bytes from `start` up to `end`. */
  add(bytes: Buffer, start: number, end: number): void {
    // Rows are sorted: a value is often the one before.
    const before = this.#count === 0 ? -1 : (this.#rows[this.#count - 1] ?? -1);
    const same = before >= 0 && this.#is(before, bytes, start, end);
    this.#addRow(same ? before : this.#placeOf(bytes, start, end));
  }

  /** For the next row group. */
  clear(): void {
    this.#slots.fill(0);
    this.#distinct = 0;
    this.#count = 0;
  }

  /** What was taken. It holds until {@link clear}. @throws DoesNotFit when a value has more digits than its column */
  stored(): StoredColumn {
    const values = Buffer.allocUnsafe(this.#storedSize());
    const ends = new Int32Array(this.#distinct);
    const rows = this.#rows.subarray(0, this.#count);
    const misfits = new Set<number>();
    let least: StoredColumn['least'];
    let greatest: StoredColumn['greatest'];
    for (let place = 0; place < this.#distinct; place += 1) {
      const given = spanOf(this.#values, this.#ends, place);
      const start = endOf(ends, place - 1);
      const end = start + this.#storing.size(given.end - given.start);
      ends[place] = end;
      if (!this.#storing.write(given, values, start)) {
        if (!this.#exactBeside) throw new DoesNotFit(this.#column.name);
        misfits.add(place);
        continue;
      }
      const statistic = this.#storing.statistic({ bytes: values, start, end });
      if (statistic === undefined) continue;
      if (least === undefined || isLess(statistic, least)) least = statistic;
      if (greatest === undefined || isLess(greatest, statistic)) greatest = statistic;
    }
    return {
      values,
      ends,
      rows: misfits.size === 0 ? rows : rows.map((place) => (misfits.has(place) ? -1 : place)),
      ...(least !== undefined && { least: kept(least) }),
      ...(greatest !== undefined && { greatest: kept(greatest) }),
    };
  }

  #storedSize(): number {
    let size = 0;
    for (let place = 0; place < this.#distinct; place += 1)
      size += this.#storing.size(endOf(this.#ends, place) - endOf(this.#ends, place - 1));
    return size;
  }

  #addRow(place: number): void {
    if (this.#count === this.#rows.length) this.#rows = doubled(this.#rows);
    this.#rows[this.#count] = place;
    this.#count += 1;
  }

  #is(place: number, bytes: Buffer, start: number, end: number): boolean {
    const from = endOf(this.#ends, place - 1);
    if (endOf(this.#ends, place) - from !== end - start) return false;
    const values = this.#values;
    for (let at = start, own = from; at < end; at += 1, own += 1) if (bytes[at] !== values[own]) return false;
    return true;
  }

  #placeOf(bytes: Buffer, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0) return this.#append(slot, hash, bytes, start, end);
      if (this.#hashes[place] === hash && this.#is(place, bytes, start, end)) return place;
    }
  }

  #append(slot: number, hash: number, bytes: Buffer, start: number, end: number): number {
    const place = this.#distinct;
    if (place === this.#ends.length) {
      this.#ends = doubled(this.#ends);
      this.#hashes = doubled(this.#hashes);
    }
    const from = this.size;
    const until = from + end - start;
    if (until > this.#values.length) {
      const values = Buffer.allocUnsafe(Math.max(until, 2 * this.#values.length));
      this.#values.copy(values, 0, 0, from);
      this.#values = values;
    }
    for (let at = start, own = from; at < end; at += 1, own += 1) this.#values[own] = bytes[at] ?? 0;
    this.#ends[place] = until;
    this.#hashes[place] = hash;
    this.#slots[slot] = place + 1;
    this.#distinct += 1;
    if (2 * this.#distinct > this.#slots.length) this.#widen();
    return place;
  }

  #widen(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let place = 0; place < this.#distinct; place += 1) {
      let slot = (this.#hashes[place] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = place + 1;
    }
    this.#slots = slots;
  }
}

/** Where the value of a place ends, which is where the next one begins. @param place -1: where the first one begins */
export const endOf = (ends: Int32Array, place: number): number => (place < 0 ? 0 : (ends[place] ?? 0));

const spanOf = (bytes: Buffer, ends: Int32Array, place: number): Span => ({
  bytes,
  start: endOf(ends, place - 1),
  end: endOf(ends, place),
});

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * numbers.length);
  more.set(numbers);
  return more;
}

/** FNV-1a, and its bits mixed, because slots go by the lowest ones. */
function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** A value of its own, without the bytes around it. */
const kept = (value: bigint | boolean | Uint8Array) =>
  value instanceof Uint8Array ? Uint8Array.from(value) : value;

function isLess(one: bigint | boolean | Uint8Array, other: bigint | boolean | Uint8Array): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) < 0;
  return one < other;
}
