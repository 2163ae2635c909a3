/** Copies reach back within a block only, so that two bytes tell how far. */
const BLOCK = 1 << 16;
/** Bits of the table of what was seen in a block. */
const BITS = 14;
/** What is shorter has nothing that comes again. */
const SHORTEST = 16;
/** From this many bytes on a native copy is faster. */
const LONG = 64;
/** Every 32 bytes without a match the steps become longer. */
const PATIENCE = 5;

/** By hash, where four bytes were seen last, from the begin of the block. */
const seen = new Uint16Array(1 << BITS);

/**
 * Compresses bytes by Snappy, in its raw form. `hyparquet-writer` has one that makes objects for every few bytes: all the garbage of an
 * export.
 */
export function compressSnappy(bytes: Uint8Array): Uint8Array {
  const into = Buffer.allocUnsafe(32 + bytes.length + Math.floor(bytes.length / 6));
  let at = 0;
  let length = bytes.length;
  for (; length >= 0x80; length = Math.floor(length / 0x80)) {
    into[at] = (length % 0x80) | 0x80;
    at += 1;
  }
  into[at] = length;
  at += 1;
  for (let start = 0; start < bytes.length; start += BLOCK)
    at = block(bytes, start, Math.min(bytes.length, start + BLOCK), into, at);
  return into.subarray(0, at);
}

function block(bytes: Uint8Array, start: number, end: number, into: Buffer, begin: number): number {
  seen.fill(0);
  let at = begin;
  let literal = start;
  let steps = 1 << PATIENCE;
  const last = end - SHORTEST;
  for (let from = start + 1; from < last; ) {
    const four = fourAt(bytes, from);
    const hash = Math.imul(four, 0x1e35a7bd) >>> (32 - BITS);
    const before = start + (seen[hash] ?? 0);
    seen[hash] = from - start;
    if (fourAt(bytes, before) !== four) {
      from += steps >> PATIENCE;
      steps += 1;
      continue;
    }
    let length = 4;
    while (from + length < end && bytes[before + length] === bytes[from + length]) length += 1;
    if (literal < from) at = putLiteral(bytes, literal, from, into, at);
    at = putCopy(from - before, length, into, at);
    from += length;
    literal = from;
    steps = 1 << PATIENCE;
  }
  return literal < end ? putLiteral(bytes, literal, end, into, at) : at;
}

const fourAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) |
  ((bytes[at + 1] ?? 0) << 8) |
  ((bytes[at + 2] ?? 0) << 16) |
  ((bytes[at + 3] ?? 0) << 24);

/** Bytes as they are, behind their number less one. */
function putLiteral(bytes: Uint8Array, from: number, end: number, into: Buffer, begin: number): number {
  const length = end - from;
  let at = begin;
  if (length <= 60) into[at] = (length - 1) << 2;
  else {
    into[at] = length <= 0x100 ? 60 << 2 : 61 << 2;
    at += 1;
    into[at] = (length - 1) & 0xff;
    if (length > 0x100) {
      at += 1;
      into[at] = (length - 1) >> 8;
    }
  }
  at += 1;
  if (length >= LONG) into.set(bytes.subarray(from, end), at);
  else for (let place = 0; place < length; place += 1) into[at + place] = bytes[from + place] ?? 0;
  return at + length;
}

/** So many bytes that stand so far before. */
function putCopy(offset: number, length: number, into: Buffer, begin: number): number {
  let at = begin;
  let left = length;
  while (left > 64) {
    // What is left has to be 4 bytes at least.
    const part = left >= 68 ? 64 : 60;
    at = putLongCopy(offset, part, into, at);
    left -= part;
  }
  if (left >= 12 || offset >= 2_048) return putLongCopy(offset, left, into, at);
  into[at] = ((offset >> 8) << 5) | ((left - 4) << 2) | 1;
  into[at + 1] = offset & 0xff;
  return at + 2;
}

function putLongCopy(offset: number, length: number, into: Buffer, at: number): number {
  into[at] = ((length - 1) << 2) | 2;
  into[at + 1] = offset & 0xff;
  into[at + 2] = offset >> 8;
  return at + 3;
}
