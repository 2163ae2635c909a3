import { createHash } from 'node:crypto';

/** The digits of base 58: no zero, no capital O and I, no small l. */
export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes in base 58; leading zero bytes become ones. */
function base58(bytes: Uint8Array): string {
  let number = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (number > 0n) {
    text = BASE58.charAt(Number(number % 58n)) + text;
    number /= 58n;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

/** The last four bytes of the SHA-256 of some bytes, as the node appends them to ids and hex strings. */
function checksum(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest().subarray(28);
}

/** cb58: base 58 of the bytes followed by their checksum. */
export function cb58(bytes: Uint8Array): string {
  return base58(Buffer.concat([bytes, checksum(bytes)]));
}

/** `0x` hex of the bytes followed by their checksum: the node's `hex` encoding. */
export function checkedHex(bytes: Uint8Array): string {
  return `0x${Buffer.concat([bytes, checksum(bytes)]).toString('hex')}`;
}

/** `size` bytes that belong to a name under a seed; for the few ids that are made once. */
export function namedBytes(seed: number, name: string, size: number): Uint8Array {
  const parts: Buffer[] = [];
  for (let i = 0; i * 32 < size; i += 1) {
    parts.push(createHash('sha256').update(`${seed}/${name}/${i}`).digest());
  }
  return Buffer.concat(parts).subarray(0, size);
}
