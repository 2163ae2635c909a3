import { keccak_256 } from '@noble/hashes/sha3.js';

const cache = new Map<string, string>();

/**
 * Encodes an EVM address with the capitals of EIP-55. A letter is a capital where the keccak-256 of the
 * lower-case address has a digit of 8 or more.
 */
export function evmAddress(bytes: Uint8Array): string {
  const small = Buffer.from(bytes).toString('hex');
  const checksummed = cache.get(small) ?? toChecksumCase(small);
  cache.set(small, checksummed);
  return checksummed;
}

function toChecksumCase(small: string): string {
  const digits = Buffer.from(keccak_256(Buffer.from(small))).toString('hex');
  const letters = [...small].map((letter, i) => (digits.charAt(i) >= '8' ? letter.toUpperCase() : letter));
  return `0x${letters.join('')}`;
}
