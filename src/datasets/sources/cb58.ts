import { createHash } from 'node:crypto';

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** An id as the network writes it: base 58 of the bytes and of their checksum. */
export function cb58(bytes: Uint8Array): string {
  const whole = Buffer.concat([bytes, checksum(bytes)]);
  let number = BigInt(`0x${whole.toString('hex')}`);
  let digits = '';
  for (; number > 0n; number /= 58n) digits = DIGITS.charAt(Number(number % 58n)) + digits;
  const zeros = whole.findIndex((byte) => byte !== 0);
  return '1'.repeat(Math.max(zeros, 0)) + digits;
}

/** The bytes of the node's `hex` encoding; null where the text is no hex or its checksum is wrong. */
export function bytesOfHex(text: string): Buffer | null {
  if (!/^0x(?:[0-9a-fA-F]{2}){4,}$/.test(text)) return null;
  const whole = Buffer.from(text.slice(2), 'hex');
  const bytes = whole.subarray(0, -CHECKSUM);
  return whole.subarray(-CHECKSUM).equals(checksum(bytes)) ? bytes : null;
}

const CHECKSUM = 4;

/** The last four bytes of the SHA-256. */
function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(-CHECKSUM);
}
