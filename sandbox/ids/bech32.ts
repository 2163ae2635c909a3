const DIGITS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATOR.entries()) if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum;
}

function groupsOfFive(bytes: Uint8Array): number[] {
  const groups: number[] = [];
  let bits = 0;
  let buffer = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) groups.push((buffer >>> (bits - 5)) & 31);
    buffer &= (1 << bits) - 1;
  }
  if (bits > 0) groups.push((buffer << (5 - bits)) & 31);
  return groups;
}

/**
 * Returns whether a text is the bech32 address of 20 bytes with a prefix, with valid letters and a valid
 * checksum.
 */
export function isBech32(prefix: string, text: string): boolean {
  if (!text.startsWith(`${prefix}1`) || text.length !== prefix.length + 39) return false;
  const data = [...text.slice(prefix.length + 1)].map((letter) => DIGITS.indexOf(letter));
  return !data.includes(-1) && polymod([...expandPrefix(prefix), ...data]) === 1;
}

function expandPrefix(prefix: string): number[] {
  const letters = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...letters.map((code) => code >>> 5), 0, ...letters.map((code) => code & 31)];
}

/** Encodes a bech32 address: the human-readable prefix, `1`, the bytes and a checksum. */
export function bech32(prefix: string, bytes: Uint8Array): string {
  const data = groupsOfFive(bytes);
  const sum = polymod([...expandPrefix(prefix), ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const tail = [25, 20, 15, 10, 5, 0].map((shift) => (sum >>> shift) & 31);
  return `${prefix}1${[...data, ...tail].map((group) => DIGITS.charAt(group)).join('')}`;
}
