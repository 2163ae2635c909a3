import { bytesOfCb58, checkedHex, namedBytes } from '../ids/base58.ts';
import type { Network } from '../network/network.ts';
import type { PrimaryChain } from '../network/primary-chains.ts';
import { type Transfer, transferOf } from './transactions.ts';

/** Type ids in the bytes of each chain (codec version 0). */
const TYPES = {
  transfer: { base: [34, 0], import: [17, 3], export: [18, 4] },
  block: [32, 20],
  input: 5,
  output: 7,
  credential: 9,
} as const;

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function long(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function id(text: string): Buffer {
  const bytes = bytesOfCb58(text, 32);
  if (bytes === undefined) throw new Error(`${text} is no id`);
  return bytes;
}

function listOf(items: readonly Buffer[]): Buffer {
  return Buffer.concat([word(items.length), ...items]);
}

function output({ assetId, amount, owner }: Transfer['output']): Buffer {
  const owners = [word(1), listOf([Buffer.from(owner.bytes)])];
  return Buffer.concat([id(assetId), word(TYPES.output), long(amount), long(0), ...owners]);
}

function input({ txId, outputIndex, assetId, amount }: Transfer['input']): Buffer {
  const spent = [id(txId), word(outputIndex), id(assetId)];
  return Buffer.concat([...spent, word(TYPES.input), long(amount), listOf([word(0)])]);
}

/** Encodes a transaction with its credentials, without the codec's version. */
function encodeSigned(transfer: Transfer, chain: PrimaryChain): Buffer {
  const memo = Buffer.from(transfer.memo.slice(2), 'hex');
  const other = transfer.otherChain === undefined ? [] : [id(transfer.otherChain)];
  const moved = {
    base: [],
    import: [listOf([input(transfer.input)])],
    export: [listOf([output(transfer.output)])],
  };
  return Buffer.concat([
    word(TYPES.transfer[transfer.kind][chain.number === 0 ? 0 : 1]),
    word(transfer.networkId),
    id(chain.blockchainId),
    listOf([output(transfer.output)]),
    listOf([input(transfer.spent)]),
    word(memo.length),
    memo,
    ...other,
    ...moved[transfer.kind],
    listOf([
      Buffer.concat([word(TYPES.credential), listOf([Buffer.from(transfer.signature.slice(2), 'hex')])]),
    ]),
  ]);
}

/** Returns a transaction in the node's `hex` encoding. */
export function transactionHex(network: Network, chain: PrimaryChain, number: number): string {
  return checkedHex(
    Buffer.concat([Buffer.alloc(2), encodeSigned(transferOf(network, chain, number), chain)]),
  );
}

/** Returns the block at a height in the node's `hex` encoding, as a standard block with its transactions. */
export function blockHex(network: Network, chain: PrimaryChain, height: number): string {
  const blocks = network.blocks(chain);
  const place = [id(blocks.hash(height - 1)), long(height)];
  const time = long(blocks.time(height));
  const platform = chain.number === 0;
  const root = platform ? [] : [Buffer.from(namedBytes(network.seed, `merkle root ${height}`, 32))];
  const transactions = blocks
    .transactionNumbers(height)
    .map((number) => encodeSigned(transferOf(network, chain, number), chain));
  const head = platform ? [time, ...place] : [...place, time, ...root];
  const type = word(TYPES.block[platform ? 0 : 1]);
  return checkedHex(Buffer.concat([Buffer.alloc(2), type, ...head, listOf(transactions)]));
}
