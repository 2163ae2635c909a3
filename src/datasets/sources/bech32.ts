const DIGITS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM = 6;

/**
 * Returns a primary-network address without its chain: bech32 (BIP 173) of 20 bytes with a prefix such as
 * `avax`.
 */
export function bech32(prefix: string, bytes: Uint8Array): string {
  const words = fives(bytes);
  const letters = [...prefix].map((letter) => letter.charCodeAt(0));
  const expanded = [...letters.map((code) => code >> 5), 0, ...letters.map((code) => code & 31)];
  const sum = polymod([...expanded, ...words, ...new Array<number>(CHECKSUM).fill(0)]) ^ 1;
  const check = Array.from({ length: CHECKSUM }, (_, at) => (sum >> (5 * (CHECKSUM - 1 - at))) & 31);
  return `${prefix}1${[...words, ...check].map((word) => DIGITS.charAt(word)).join('')}`;
}

/** Splits bytes into groups of five bits. */
function fives(bytes: Uint8Array): number[] {
  const words: number[] = [];
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) words.push((value >> (bits - 5)) & 31);
  }
  if (bits > 0) words.push((value << (5 - bits)) & 31);
  return words;
}

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    GENERATOR.forEach((part, bit) => {
      if ((top >> bit) & 1) sum ^= part;
    });
  }
  return sum;
}
