import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/** An id as the network writes it: base 58 of the bytes and of their checksum. */
export function cb58(bytes: Uint8Array): string {
  return base58.encode(Buffer.concat([bytes, checksum(bytes)]));
}

/** The bytes of an id as the network writes it; null where it is mistyped: no base 58, or a wrong checksum. */
export function bytesOfCb58(text: string): Buffer | null {
  try {
    return checked(Buffer.from(base58.decode(text)));
  } catch {
    return null; // a letter that base 58 does not have
  }
}

/** The bytes of the node's `hex` encoding; null where the text is no hex or its checksum is wrong. */
export function bytesOfHex(text: string): Buffer | null {
  return /^0x(?:[0-9a-fA-F]{2}){4,}$/.test(text) ? checked(Buffer.from(text.slice(2), 'hex')) : null;
}

const CHECKSUM = 4;

/** The bytes before the checksum; null when the checksum does not match them. */
function checked(whole: Buffer): Buffer | null {
  const bytes = whole.subarray(0, -CHECKSUM);
  return whole.subarray(-CHECKSUM).equals(checksum(bytes)) ? bytes : null;
}

/** The last four bytes of the SHA-256. */
function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(-CHECKSUM);
}
