import { createHash, hash } from 'node:crypto';

/** The digits of base 58, without zero, capital O and I, and lower-case l. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const DIGITS = Buffer.from(BASE58);
const ONE = DIGITS[0] ?? 0;
/** Four digits are processed at a time. With limbs of 24 bits, a double represents the dividend exactly. */
const PAIR = 58 ** 2;
const FOUR = PAIR ** 2;
const LIMB = 2 ** 24;
/** Buffer for the longest id and its checksum; every response contains hundreds of ids. */
const limbs = new Float64Array(16);
const letters = Buffer.alloc(64);

function digit(value: number): number {
  return DIGITS[value] ?? ONE;
}

/** Encodes at most 36 bytes in base 58. Leading zero bytes become the digit `1`. */
function base58(bytes: Uint8Array): string {
  const count = Math.ceil(bytes.length / 3);
  for (let i = count - 1, end = bytes.length - 1; i >= 0; i -= 1, end -= 3) {
    limbs[i] = ((bytes[end - 2] ?? 0) << 16) | ((bytes[end - 1] ?? 0) << 8) | (bytes[end] ?? 0);
  }
  let at = letters.length;
  for (let first = 0; first < count; ) {
    let rest = 0;
    for (let i = first; i < count; i += 1) {
      const value = rest * LIMB + (limbs[i] ?? 0);
      const quotient = Math.floor(value / FOUR);
      limbs[i] = quotient;
      rest = value - quotient * FOUR;
    }
    at -= 4;
    for (let place = at + 3; place >= at; place -= 1) {
      letters[place] = digit(rest % 58);
      rest = Math.floor(rest / 58);
    }
    while (first < count && limbs[first] === 0) first += 1;
  }
  while (letters[at] === ONE) at += 1;
  for (let i = 0; bytes[i] === 0; i += 1) letters[--at] = ONE;
  return letters.toString('latin1', at);
}

/** Decodes a text in base 58. Returns undefined if the text contains another character. */
function bytesOfBase58(text: string): Buffer | undefined {
  let number = 0n;
  for (const letter of text) {
    const digit = BASE58.indexOf(letter);
    if (digit < 0) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const zeros = text.length - text.replace(/^1+/, '').length;
  const hex = number === 0n ? '' : number.toString(16);
  return Buffer.concat([
    Buffer.alloc(zeros),
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'),
  ]);
}

/**
 * Returns the last four bytes of the SHA-256 of some bytes. Nodes append this checksum to ids and hex
 * strings.
 */
function checksum(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer').subarray(28);
}

/** Encodes bytes in cb58, which is base 58 of the bytes followed by their checksum. */
export function cb58(bytes: Uint8Array): string {
  const whole = new Uint8Array(bytes.length + 4);
  whole.set(bytes);
  whole.set(checksum(bytes), bytes.length);
  return base58(whole);
}

/** Returns the bytes of an id in cb58. Returns undefined if the length or the checksum is wrong. */
export function bytesOfCb58(id: string, size: number): Buffer | undefined {
  // The longest id, of 32 bytes and their checksum, has 52 characters.
  const whole = id.length > 52 ? undefined : bytesOfBase58(id);
  const bytes = whole?.subarray(0, -4);
  if (whole === undefined || bytes === undefined || bytes.length !== size) return undefined;
  return whole.subarray(-4).equals(checksum(bytes)) ? bytes : undefined;
}

/** Returns whether a text is the id of a node: the bytes of an address in cb58. */
export function isNodeId(text: string): boolean {
  return text.startsWith('NodeID-') && bytesOfCb58(text.slice('NodeID-'.length), 20) !== undefined;
}

/** Returns whether a text is an id of 32 bytes in cb58: of a transaction, block, chain, subnet or asset. */
export function isId(text: string): boolean {
  return bytesOfCb58(text, 32) !== undefined;
}

/**
 * Encodes bytes in the `hex` encoding of nodes, which is `0x` and the hex digits of the bytes and their
 * checksum.
 */
export function checkedHex(bytes: Uint8Array): string {
  return `0x${Buffer.concat([bytes, checksum(bytes)]).toString('hex')}`;
}

/** Returns `size` bytes that are derived from a name and a seed, for the few ids that are created once. */
export function namedBytes(seed: number, name: string, size: number): Uint8Array {
  const parts: Buffer[] = [];
  for (let i = 0; i * 32 < size; i += 1) {
    parts.push(createHash('sha256').update(`${seed}/${name}/${i}`).digest());
  }
  return Buffer.concat(parts).subarray(0, size);
}
