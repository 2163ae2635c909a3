import type { FileColumn } from './file-columns.ts';
import { DoesNotFit } from './file-writer.ts';
import { type Statistic, type Storing, storingOf } from './parquet-values.ts';

/** Of so many distinct values so many have to have come again, or the rest of a row group is not looked through for what repeats. */
const PROBED = 1_024;
const REPEATED = PROBED / 16;

/** The values of a column in a row group as Parquet stores them. */
export interface StoredColumn {
  /** The distinct values, one after another; where hardly any repeats, all of them. */
  readonly values: Buffer;
  /** Where each of them ends. */
  readonly ends: Int32Array;
  /** Which of them each row has; -1: none. */
  readonly rows: Int32Array;
  /** The least and the greatest, where they have an order. */
  readonly least?: Statistic;
  readonly greatest?: Statistic;
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
  #repeated = 0;
  /** Values are hardly ever equal: each is taken as a new one. */
  #unlike = false;

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
    if (this.#unlike) {
      this.#addRow(this.#append(bytes, start, end));
      return;
    }
    // Rows are sorted: a value is often the one before.
    const before = this.#count === 0 ? -1 : (this.#rows[this.#count - 1] ?? -1);
    const same = before >= 0 && this.#is(before, bytes, start, end);
    this.#addRow(same ? before : this.#placeOf(bytes, start, end));
    if (same) this.#repeated += 1;
  }

  /** For the next row group. */
  clear(): void {
    this.#slots.fill(0);
    this.#distinct = 0;
    this.#count = 0;
    this.#repeated = 0;
    this.#unlike = false;
  }

  /** What was taken. It holds until {@link clear}. @throws DoesNotFit when a value has more digits than its column */
  stored(): StoredColumn {
    const { write, isLess, statistic } = this.#storing;
    const values = Buffer.allocUnsafe(this.#storedSize());
    const ends = new Int32Array(this.#distinct);
    const rows = this.#rows.subarray(0, this.#count);
    const misfits = new Set<number>();
    let least = -1;
    let greatest = -1;
    for (let place = 0; place < this.#distinct; place += 1) {
      const from = endOf(this.#ends, place - 1);
      const until = endOf(this.#ends, place);
      const start = endOf(ends, place - 1);
      const end = start + this.#storing.size(until - from);
      ends[place] = end;
      if (!write(this.#values, from, until, values, start)) {
        if (!this.#exactBeside) throw new DoesNotFit(this.#column.name);
        misfits.add(place);
        continue;
      }
      if (!isLess) continue;
      const isLeast = least < 0 || isLess(values, start, end, endOf(ends, least - 1), endOf(ends, least));
      if (isLeast) least = place;
      if (greatest < 0 || isLess(values, endOf(ends, greatest - 1), endOf(ends, greatest), start, end))
        greatest = place;
    }
    const told = (place: number) => kept(statistic(values, endOf(ends, place - 1), endOf(ends, place)));
    return {
      values,
      ends,
      rows: misfits.size === 0 ? rows : rows.map((place) => (misfits.has(place) ? -1 : place)),
      ...(least >= 0 && { least: told(least), greatest: told(greatest) }),
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
    let slot = hash & mask;
    for (; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0) break;
      if (this.#hashes[place] !== hash || !this.#is(place, bytes, start, end)) continue;
      this.#repeated += 1;
      return place;
    }
    const place = this.#append(bytes, start, end);
    if (place >= this.#hashes.length) this.#hashes = doubled(this.#hashes);
    this.#hashes[place] = hash;
    this.#slots[slot] = place + 1;
    if (2 * this.#distinct > this.#slots.length) this.#widen();
    if (this.#distinct === PROBED) this.#unlike = this.#repeated < REPEATED;
    return place;
  }

  #append(bytes: Buffer, start: number, end: number): number {
    const place = this.#distinct;
    if (place === this.#ends.length) this.#ends = doubled(this.#ends);
    const from = this.size;
    const until = from + end - start;
    if (until > this.#values.length) {
      const values = Buffer.allocUnsafe(Math.max(until, 2 * this.#values.length));
      this.#values.copy(values, 0, 0, from);
      this.#values = values;
    }
    for (let at = start, own = from; at < end; at += 1, own += 1) this.#values[own] = bytes[at] ?? 0;
    this.#ends[place] = until;
    this.#distinct += 1;
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
const kept = (value: Statistic) => (value instanceof Uint8Array ? Uint8Array.from(value) : value);
