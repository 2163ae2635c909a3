import type { Readable } from 'node:stream';
import { parseRfc3339Microseconds } from '../lib/instant.ts';

/**
 * A function that reads one value in PostgreSQL's binary format.
 * @param start inclusive
 * @param end exclusive
 */
export type ReadValue<T> = (bytes: Buffer, start: number, end: number) => T;

/** Length of the header (signature, flags, length of an empty extension), in bytes. */
const HEADER_BYTES = 19;
/** Microseconds from 1970 to the epoch of PostgreSQL, 2000-01-01. */
export const POSTGRES_EPOCH_MICROS = 946_684_800_000_000n;

export const readText: ReadValue<string> = (bytes, start, end) => bytes.toString('utf8', start, end);
export const readBigint: ReadValue<bigint> = (bytes, start) => bytes.readBigInt64BE(start);
export const readBoolean: ReadValue<boolean> = (bytes, start) => bytes[start] === 1;
export const readDouble: ReadValue<number> = (bytes, start) => bytes.readDoubleBE(start);
/** Reads a `timestamptz`, in microseconds since 1970. */
export const readInstant: ReadValue<bigint> = (bytes, start) =>
  bytes.readBigInt64BE(start) + POSTGRES_EPOCH_MICROS;
/**
 * Encodes a `timestamptz` for a binary COPY.
 * @param iso ISO 8601 in UTC, to the microsecond
 * @throws RangeError if `iso` is not a valid instant
 */
export function instantBytes(iso: string): Buffer {
  const since1970 = parseRfc3339Microseconds(iso);
  if (since1970 === null)
    throw new RangeError(`invalid time ${iso}: it must be ISO 8601 in UTC, to the microsecond`);
  const micros = BigInt(since1970);
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(micros - POSTGRES_EPOCH_MICROS);
  return bytes;
}
/** Reads a `date`, in days since 2000-01-01. */
export const readDay: ReadValue<number> = (bytes, start) => bytes.readInt32BE(start);

/** A row of a binary COPY: the offsets of its values. The object is reused for each row. */
export interface CopyRow {
  bytes: Buffer;
  readonly starts: Int32Array;
  /** Exclusive end of each value; -1 if the value is null. */
  readonly ends: Int32Array;
}

/**
 * Reads the rows of a binary COPY.
 * @param columns number of values in a row
 * @param row called for each row; the next rows are read after its promise has resolved
 * @throws the errors of the stream, and Error if the stream is not a valid COPY
 */
export async function readCopy(
  stream: Readable,
  columns: number,
  row: (row: CopyRow) => Promise<void> | undefined,
): Promise<void> {
  const found: CopyRow = {
    bytes: Buffer.alloc(0),
    starts: new Int32Array(columns),
    ends: new Int32Array(columns),
  };
  let rest: Buffer = Buffer.alloc(0);
  let begun = false;
  let ended = false;
  for await (const piece of stream) {
    if (!Buffer.isBuffer(piece)) throw new Error('COPY returned a chunk that is not a buffer');
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    if (!begun) {
      if (bytes.length < HEADER_BYTES) {
        rest = bytes;
        continue;
      }
      begun = true;
      at = HEADER_BYTES;
    }
    found.bytes = bytes;
    while (!ended) {
      const end = findRow(found, at);
      if (end === INCOMPLETE) break;
      if (end === END_OF_ROWS) {
        ended = true;
        at += 2;
        break;
      }
      at = end;
      const waits = row(found);
      if (waits) await waits;
    }
    rest = bytes.subarray(at);
  }
  if (!ended) throw new Error('the output of COPY is truncated');
}

/** Result of {@link findRow} if the received bytes end within a row. */
const INCOMPLETE = -1;
/** Result of {@link findRow} at the trailer, which follows the last row. */
const END_OF_ROWS = -2;

/**
 * Finds the values of the row that starts at an offset.
 * @returns the exclusive end of the row, {@link INCOMPLETE} or {@link END_OF_ROWS}
 */
function findRow({ bytes, starts, ends }: CopyRow, begin: number): number {
  let at = begin + 2;
  if (bytes.length < at) return INCOMPLETE;
  const count = bytes.readInt16BE(begin);
  if (count < 0) return END_OF_ROWS;
  if (count !== starts.length) throw new Error(`COPY returned ${count} columns instead of ${starts.length}`);
  for (let place = 0; place < count; place += 1) {
    if (bytes.length < at + 4) return INCOMPLETE;
    const length = bytes.readInt32BE(at);
    at += 4;
    starts[place] = at;
    ends[place] = length < 0 ? -1 : at + length;
    if (length > 0) at += length;
    if (bytes.length < at) return INCOMPLETE;
  }
  return at;
}
