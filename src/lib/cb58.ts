import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/** Encodes an id in the network's format CB58, which is base 58 of the bytes and their checksum. */
export function encodeCb58(bytes: Uint8Array): string {
  return base58.encode(Buffer.concat([bytes, checksum(bytes)]));
}

/** Decodes a CB58 id. Returns null if the text is not base 58 or its checksum is wrong. */
export function decodeCb58(text: string): Buffer | null {
  try {
    return verifyChecksum(Buffer.from(base58.decode(text)));
  } catch {
    return null; // a character that is not in base 58
  }
}

/**
 * Decodes the node's `hex` encoding. Returns null if the text is not hexadecimal or its checksum is wrong.
 */
export function decodeHex(text: string): Buffer | null {
  return /^0x(?:[0-9a-fA-F]{2}){4,}$/.test(text) ? verifyChecksum(Buffer.from(text.slice(2), 'hex')) : null;
}

const CHECKSUM_BYTES = 4;

/** Returns the bytes before the checksum. Returns null if the checksum does not match these bytes. */
function verifyChecksum(whole: Buffer): Buffer | null {
  const bytes = whole.subarray(0, -CHECKSUM_BYTES);
  return whole.subarray(-CHECKSUM_BYTES).equals(checksum(bytes)) ? bytes : null;
}

/** Returns the checksum of CB58: the last four bytes of the SHA-256. */
function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(-CHECKSUM_BYTES);
}
