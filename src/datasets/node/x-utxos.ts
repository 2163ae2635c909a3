import { createHash } from 'node:crypto';
import { decodeHex, encodeCb58 } from '../../lib/cb58.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import { jsonText } from '../../upstreams/json.ts';
import type { Source, SourcePage, UpstreamClient } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, lockTime, object, optional, set, text, uint } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { bech32 } from '../sources/bech32.ts';
import { minute } from '../sources/durations.ts';
import { addressesOn } from '../sources/primary-addresses.ts';

const SECP256K1_OUTPUT = 7;
const ADDRESS_BYTES = 20;

/**
 * Decodes an unspent output of the X-chain from its bytes: codec version, transaction id, output index, asset
 * id and output. Only transferable outputs are decoded completely. The id of an output is the SHA-256 of
 * index and transaction id.
 * @param hex the `hex` encoding of the node
 * @param owner an address of the network, for the prefix of the addresses of the output
 * @returns the readable fields; only the hex text if the bytes are no output
 */
function decodeUtxo(hex: unknown, owner: string): Readonly<Record<string, unknown>> {
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

/**
 * Source chains to request. Undefined: outputs on the X-chain itself. P and C: outputs in transit from that
 * chain.
 */
const SOURCE_CHAINS = [undefined, 'P', 'C'];
const MAX_PAGE_OUTPUTS = 1024;

/**
 * Requests all unspent outputs of one address, page by page, by the rules of avm.getUTXOs. With several
 * addresses, a page may be short although more outputs follow (upstream-services.md#unspent-outputs).
 * @throws UpstreamFailure if a call fails permanently, or the page positions repeat
 */
async function* walkUtxos(client: UpstreamClient, address: string): AsyncGenerator<SourcePage> {
  const limit = client.pageSize(MAX_PAGE_OUTPUTS);
  for (const sourceChain of SOURCE_CHAINS) {
    const seenPositions = new Set<string>();
    let startIndex: unknown;
    let before = '';
    let isFirst = true;
    for (;;) {
      const result = await client.rpc('/ext/bc/X', 'avm.getUTXOs', {
        addresses: [address],
        limit,
        encoding: 'hex',
        ...(sourceChain === undefined ? {} : { sourceChain }),
        ...(startIndex === undefined ? {} : { startIndex }),
      });
      const utxos = getList(result, 'utxos', 'numFetched');
      const fetched = Number(getMember(result, 'numFetched') ?? utxos.length);
      startIndex = getMember(result, 'endIndex');
      const end = jsonText(startIndex);
      const done = !(fetched >= limit) || end === before;
      if (!done && seenPositions.has(end))
        throw new UpstreamFailure('malformed', 'the pages of avm.getUTXOs form a cycle');
      yield {
        body: { utxos, sourceChain },
        proven: null,
        last: done && sourceChain === SOURCE_CHAINS.at(-1),
        whole: true,
        ...(isFirst && { startsList: true }),
      };
      isFirst = false;
      if (done) break;
      seenPositions.add(end);
      before = end;
    }
  }
}

/** Unspent outputs of an address, including those in transit from the P- and C-chain. */
const source: Source = {
  name: 'x-utxos',
  upstream: 'nodes',
  every: 30 * minute,
  weight: 0,
  calls: 3,
  paged: true,
  targets: ({ nodes, watch }) =>
    nodes.flatMap((node) => addressesOn('X', watch.addresses).map((address) => ({ node, address }))),
  walk: (client, { address = '' }) => walkUtxos(client, address),
};

export const xUtxos = defineDataset({
  name: 'x_utxos',
  about: 'Unspent outputs of a watched X-chain address, decoded.',
  operations: ['avm.getUTXOs'],
  history: 'state',
  source,
  request: ['node', 'address'],
  key: ['node', 'address', 'utxo_id'],
  items: (body, { address = '' }) => {
    const sourceChain = getMember(body, 'sourceChain');
    return getList(body, 'utxos').map((hex) => ({ ...decodeUtxo(hex, address), sourceChain }));
  },
  states: { address: ['addresses'] },
  item: object({
    utxoID: text(),
    sourceChain: optional(
      text(
        'Chain from which the output was exported and not imported yet; null: the output is on the X-chain.',
      ),
    ),
    txID: text('Transaction that created the output.'),
    outputIndex: count('Index of the output in its transaction.'),
    assetID: text(),
    outputType: count('Kind of output. Kind 7 is transferable; of other kinds only the bytes are recorded.'),
    amount: optional(uint("In the asset's smallest unit.")),
    locktime: optional(lockTime('Time from which the output can be spent.')),
    threshold: optional(count('Number of the addresses that must sign.')),
    addresses: optional(set(undefined, 'Addresses of which the threshold must sign.')),
    utxo: hex('The output as the node returned it: hex with a checksum.'),
  }),
  example: {
    utxoID: '2Sz2XwRYqUHwPeiKoRnZ6ht88YqzAF1SQjMYZQQaB5wBFkAqST',
    sourceChain: 'P',
    txID: 'FCry2Z1Su9KZqK1XRMhxQS6XuPorxDm3C3RBT7hw32ojiqyvP',
    outputIndex: 0,
    assetID: 'SSUAMrVdqYuvybAMGNitTYSAnE4T5fVdVDB82ped1qQ9f8DDM',
    outputType: 7,
    amount: '1280000000000000000',
    locktime: '0',
    threshold: 1,
    addresses: ['X-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    utxo: '0x00001f989ffaf18a18a59bdfbf209342aa61c6a62a67e8639d02bb3c8ddab315c6fa0000000039c33a499ce4c33a3b09cdd2cfa01ae70dbf2d18b2d7d168524440e55d550088000000070011c304cd7eb5c0000000000000000000000001000000013cb7d3842e8cee6a0ebd09f1fe884f6861e1b29c83497819',
  },
});

export const { table: xUtxosTable } = xUtxos;
