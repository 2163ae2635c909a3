import type { Readable } from 'node:stream';

/** Reads one value out of PostgreSQL's binary form: the bytes from `start` up to `end`. */
export type ReadValue<T> = (bytes: Buffer, start: number, end: number) => T;

/** The signature, the flags, and an extension of no bytes. */
const HEADER = 19;
/** Microseconds from 1970 to PostgreSQL's own beginning of time, 2000. */
const EPOCH = 946_684_800_000_000n;

export const readText: ReadValue<string> = (bytes, start, end) => bytes.toString('utf8', start, end);
export const readBigint: ReadValue<bigint> = (bytes, start) => bytes.readBigInt64BE(start);
export const readBoolean: ReadValue<boolean> = (bytes, start) => bytes[start] === 1;
export const readDouble: ReadValue<number> = (bytes, start) => bytes.readDoubleBE(start);
/** A `timestamptz`, as microseconds since 1970. */
export const readInstant: ReadValue<bigint> = (bytes, start) => bytes.readBigInt64BE(start) + EPOCH;
/** A `date`, as days since 2000. */
export const readDay: ReadValue<number> = (bytes, start) => bytes.readInt32BE(start);

/**
 * Reads the rows of a binary COPY.
 * @param readers how the value of each column is read
 * @param row called for each row with its values, null where there is none; the next rows are read once it has resolved
 * @throws what the stream does, and Error when the stream is not what it should be
 */
export async function readCopy<T>(
  stream: Readable,
  readers: readonly ReadValue<T>[],
  row: (values: (T | null)[]) => Promise<void> | undefined,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let begun = false;
  let ended = false;
  for await (const piece of stream) {
    if (!Buffer.isBuffer(piece)) throw new Error('COPY gave something else than bytes');
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    if (!begun) {
      if (bytes.length < HEADER) {
        rest = bytes;
        continue;
      }
      begun = true;
      at = HEADER;
    }
    for (;;) {
      const found = ended ? null : rowAt(bytes, at, readers);
      if (found === 'end') {
        ended = true;
        at += 2;
      } else if (found === null) break;
      else {
        at = found.end;
        const waits = row(found.values);
        if (waits) await waits;
      }
    }
    rest = bytes.subarray(at);
  }
  if (!ended) throw new Error('the rows of COPY ended before their end');
}

/** The row that begins at a byte; null: its bytes have not all come yet. */
function rowAt<T>(
  bytes: Buffer,
  begin: number,
  readers: readonly ReadValue<T>[],
): { values: (T | null)[]; end: number } | 'end' | null {
  let at = begin + 2;
  if (bytes.length < at) return null;
  const count = bytes.readInt16BE(begin);
  if (count < 0) return 'end';
  if (count !== readers.length) throw new Error(`COPY gave ${count} columns instead of ${readers.length}`);
  const values: (T | null)[] = [];
  for (const read of readers) {
    if (bytes.length < at + 4) return null;
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) {
      values.push(null);
      continue;
    }
    if (bytes.length < at + length) return null;
    values.push(read(bytes, at, at + length));
    at += length;
  }
  return { values, end: at };
}
