import { createHash } from 'node:crypto';
import { decodeHex, encodeCb58 } from '../../lib/cb58.ts';
import { bech32 } from '../sources/bech32.ts';

const SECP256K1_OUTPUT = 7;
const ADDRESS_BYTES = 20;

/**
 * Decodes an unspent output of the X-chain from its bytes: codec version, transaction id, output index, asset
 * id and output. Only transferable outputs are decoded completely. The id of an output is the SHA-256 of
 * index and transaction id.
 * @param hex the `hex` encoding of the node
 * @param owner an address of the network, for the prefix of the addresses of the output
 * @returns the readable fields; only the text if it is no output
 */
export function decodeUtxo(hex: unknown, owner: string): Readonly<Record<string, unknown>> {
  const bytes = typeof hex === 'string' ? decodeHex(hex) : null;
  if (!bytes || bytes.length < OUTPUT_AT) return { utxo: hex };
  const txId = bytes.subarray(2, 34);
  const outputIndex = bytes.readUInt32BE(34);
  const index = Buffer.alloc(8);
  index.writeBigUInt64BE(BigInt(outputIndex));
  return {
    utxoID: encodeCb58(createHash('sha256').update(index).update(txId).digest()),
    txID: encodeCb58(txId),
    outputIndex,
    assetID: encodeCb58(bytes.subarray(38, 70)),
    outputType: bytes.readUInt32BE(70),
    ...decodeTransferOutput(bytes, owner),
    utxo: hex,
  };
}

const OUTPUT_AT = 74;

/** Decodes a secp256k1 transfer output: amount, locktime, threshold and owners. */
function decodeTransferOutput(bytes: Buffer, owner: string): Readonly<Record<string, unknown>> {
  const owners = OUTPUT_AT + 24;
  if (bytes.readUInt32BE(70) !== SECP256K1_OUTPUT || bytes.length < owners) return {};
  const count = bytes.readUInt32BE(owners - 4);
  if (bytes.length !== owners + count * ADDRESS_BYTES) return {};
  const [chain = 'X', rest = ''] = owner.split('-');
  const prefix = rest.slice(0, rest.lastIndexOf('1'));
  return {
    amount: String(bytes.readBigUInt64BE(OUTPUT_AT)),
    locktime: String(bytes.readBigUInt64BE(OUTPUT_AT + 8)),
    threshold: bytes.readUInt32BE(OUTPUT_AT + 16),
    addresses: Array.from({ length: count }, (_, at) => {
      const start = owners + at * ADDRESS_BYTES;
      return `${chain}-${bech32(prefix, bytes.subarray(start, start + ADDRESS_BYTES))}`;
    }),
  };
}
